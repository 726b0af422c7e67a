"""Every address of Foldline, from the URL configuration itself, and who may use each: a new one needs a row here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from django.urls import URLPattern, URLResolver, get_resolver

WITHOUT_A_ROW = """{names}: every address needs a row in tests/doors/routes.py, which says who may use it.
PERSON (signed in, and their own things only) is the usual one; STAFF is said of everything under admin/ already;
ANYBODY is for pages that hold nothing of anybody, BY_LINK for those whose address is the secret.
A form that takes ids gets them as `fields`, by the names of tests/doors/world.py: Door(PERSON, {{"file": "file_id"}}).
A new kind of id in an address gets a row in world.py, with one of alice's, one of charlie's and one of nobody's."""


class Who(Enum):
    ANYBODY = "anybody"
    BY_LINK = "whoever knows the link"
    PERSON = "a signed-in person"
    STAFF = "the staff"


@dataclass(frozen=True, slots=True)
class Door:
    """`fields`: what a form holds, a name of an id in world.py as its value, or a text after "="."""

    who: Who
    fields: Mapping[str, str] = field(default_factory=dict)


ANYBODY, BY_LINK, PERSON, STAFF = map(Door, Who)
MESSAGE = {"text": "=Hello", "file": "file_id"}

DOORS: dict[str, Door] = {
    # Nothing of anybody's
    "manifest": ANYBODY, "service_worker": ANYBODY, "offline": ANYBODY, "healthz": ANYBODY, "readyz": ANYBODY,
    "choose_theme": ANYBODY, "metrics": ANYBODY,
    "set_language": ANYBODY, "account_login": ANYBODY, "account_logout": ANYBODY, "account_inactive": ANYBODY,
    "account_signup": ANYBODY, "account_reset_password": ANYBODY,
    "issuer_sign_in": ANYBODY, "openid_connect_callback": ANYBODY, "mfa_authenticate": ANYBODY,
    "mfa_login_webauthn": ANYBODY,
    # The address is the secret
    "setup": BY_LINK, "shared": BY_LINK, "continue_shared": PERSON,
    # One's account
    "account_reset_password_from_key": BY_LINK, "devices": PERSON, "end_device": PERSON, "end_other_devices": PERSON,
    "account_change_password": PERSON, "account_set_password": PERSON,
    "account_reauthenticate": PERSON, "mfa_reauthenticate": PERSON, "mfa_reauthenticate_webauthn": PERSON,
    "mfa_index": PERSON, "mfa_activate_totp": PERSON, "mfa_deactivate_totp": PERSON,
    "mfa_view_recovery_codes": PERSON, "mfa_generate_recovery_codes": PERSON, "mfa_download_recovery_codes": PERSON,
    "mfa_add_webauthn": PERSON, "mfa_remove_webauthn": PERSON, "delete_account": PERSON,
    # Pages and lists
    "home": PERSON, "list_chats": PERSON, "archived_chats": PERSON, "dismiss_notice": PERSON,
    "search": PERSON, "find_chats": PERSON, "usage": PERSON, "export_all": PERSON, "export_all_markdown": PERSON,
    "change_many": Door(PERSON.who, {"chat": "chat_id", "how": "=archive"}),
    # A new chat
    "start": Door(PERSON.who, MESSAGE), "new_meter": Door(PERSON.who, MESSAGE), "new_draft": Door(PERSON.who, MESSAGE),
    # A chat
    "chat": PERSON, "changes": PERSON, "archived": PERSON, "earlier": PERSON, "print": PERSON, "find_here": PERSON,
    "send": Door(PERSON.who, MESSAGE), "draft": Door(PERSON.who, MESSAGE), "stop": PERSON,
    "meter": Door(PERSON.who, MESSAGE), "request": Door(PERSON.who, MESSAGE),
    "chat_settings": Door(PERSON.who, {"preset": "preset_id"}),
    "choose_policy": Door(PERSON.who, {"policy": "=window"}),
    "order": PERSON, "pin_chat": PERSON, "archive_chat": PERSON, "keep_chat": PERSON,
    "move_chat": Door(PERSON.who, {"folder": "folder_id"}), "tag_chat": Door(PERSON.who, {"untag": "=alices"}),
    "rename": Door(PERSON.who, {"title": "=Mine"}), "delete": PERSON, "share": PERSON,
    "export_chat": PERSON, "export_markdown": PERSON, "choose_model": Door(PERSON.who, {"model": "=1"}),
    # A message, and what waits to be one
    "send_queued": PERSON, "edit_queued": Door(PERSON.who, MESSAGE), "discard_queued": PERSON,
    "regenerate": PERSON, "retry": PERSON, "continue": PERSON, "show_version": PERSON, "answer": PERSON, "fork": PERSON,
    "edit_message": Door(PERSON.who, {**MESSAGE, "shows_files": "=1"}), "pin": Door(PERSON.who, {"pinned": "=1"}),
    "start_fresh": PERSON, "delete_message": PERSON, "restore_message": PERSON,
    # Compactions
    "compact": Door(PERSON.who, {"up_to": "message_id"}), "cancel_compaction": PERSON, "undo_compaction": PERSON,
    "compactions": PERSON, "edit_summary": Door(PERSON.who, {"text": "=Mine"}), "rebuild": PERSON,
    # What a person keeps
    "make_folder": Door(PERSON.who, {"name": "=Mine"}), "folder": Door(PERSON.who, {"name": "=Mine"}),
    "open_folder": Door(PERSON.who, {"open": "=0"}), "delete_folder": PERSON,
    "upload": Door(PERSON.who, {"chat": "chat_id"}), "file": PERSON, "file_text": PERSON,
    "presets": PERSON, "preset_options": PERSON, "preset_text": PERSON, "delete_preset": PERSON,
    "change_preset": Door(PERSON.who, {"name": "=Mine", "text": "=Mine"}),
    "import": PERSON, "import_progress": PERSON, "import_part": PERSON, "cancel_import": PERSON,
    "shares": PERSON, "change_audience": Door(PERSON.who, {"audience": "=signed_in"}),
    "update_share": PERSON, "revoke_share": PERSON,
}  # fmt: skip

# The same, of the sockets in asgi.py.
SOCKET_DOORS = {"ws/chats/<uuid:chat_id>/": PERSON, "ws/chats/": PERSON}


@dataclass(frozen=True, slots=True)
class Route:
    """`template`: the address with a {name} for each of its `ids`."""

    name: str
    template: str
    ids: tuple[str, ...]

    @property
    def door(self) -> Door | None:
        return STAFF if self.template.startswith("admin/") else DOORS.get(self.name)

    @property
    def takes_ids(self) -> bool:
        return bool(self.ids or (self.door and self.door.fields))

    def address(self, ids: Mapping[str, object]) -> str:
        return "/" + self.template.format_map(ids)

    def form(self, ids: Mapping[str, object]) -> dict[str, object]:
        fields = self.door.fields.items() if self.door else ()
        return {name: value[1:] if value.startswith("=") else ids[value] for name, value in fields}

    def __str__(self) -> str:
        return self.template


def all_routes() -> list[Route]:
    return list(_walk(get_resolver(), "", ""))


def _walk(resolver: URLResolver, before: str, space: str) -> Iterator[Route]:
    for pattern in resolver.url_patterns:
        address = before + _template(str(pattern.pattern))
        if isinstance(pattern, URLPattern):
            ids = tuple(re.findall(r"\{(\w+)\}", address))
            yield Route(f"{space}{pattern.name}", address, ids)
        else:
            name = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from _walk(pattern, address, name)


def _template(pattern: str) -> str:
    """`<uuid:chat_id>/` and `^(?P<app_label>a|b)/$` as `{chat_id}/` and `{app_label}/`."""
    pattern = re.sub(r"\(\?P<(\w+)>[^)]*\)", r"{\1}", pattern)
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", pattern).removeprefix("^").removesuffix("$")
