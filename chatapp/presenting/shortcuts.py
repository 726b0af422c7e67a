"""The keys of a chat's page: one list, shown by the sheet of keys, where static/js/shortcuts.js reads it."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

NAMES: dict[str, str | Promise] = {
    "mod": "Ctrl",
    "alt": "Alt",
    "shift": _("Shift"),
    "escape": "Esc",
    "enter": _("Enter"),
    "arrowup": "↑",
    "arrowdown": "↓",
    "pageup": _("Page up"),
    "pagedown": _("Page down"),
}


@dataclass(frozen=True, slots=True)
class Shortcut:
    """`keys`: "mod+j"; "mod" is Ctrl, on a Mac ⌘.

    What it presses: the last element that can be seen of selector `presses`, a field is focused; with `step`, the one
    so far from the current one. `tells`: the event that is sent instead. With neither, other code hears these keys.
    """

    keys: str
    does: Promise
    presses: str = ""
    step: int = 0
    tells: str = ""

    @property
    def names(self) -> list[str | Promise]:
        return [NAMES.get(part, part.upper()) for part in self.keys.split("+")]


SHORTCUTS = (
    Shortcut("enter", _("Send; on a touch keyboard, a new line")),
    Shortcut("shift+enter", _("New line")),
    Shortcut("mod+enter", _("Send, or save and answer, on every keyboard")),
    Shortcut("escape", _("Close what is open, or stop the reply"), presses=".send.stop"),
    Shortcut("shift+escape", _("Go to the message box"), presses="#text"),
    Shortcut("mod+j", _("New chat"), presses="[data-new-chat]"),
    Shortcut("mod+k", _("Jump to a chat, or a command"), tells="foldline:palette"),
    Shortcut("mod+shift+f", _("Find in this chat"), tells="foldline:find"),
    Shortcut("/", _("Search your chats"), presses="#sidebar-q"),
    Shortcut("alt+arrowup", _("Previous chat in the list"), presses="[data-chat-link]", step=-1),
    Shortcut("alt+arrowdown", _("Next chat in the list"), presses="[data-chat-link]", step=1),
    Shortcut("alt+c", _("Copy the last reply"), presses="#log .message-assistant [data-copy]"),
    Shortcut("alt+e", _("Edit your last message"), presses="#log [data-edit]"),
    Shortcut("alt+l", _("Show or hide the list of chats"), tells="foldline:sidebar"),
    Shortcut("pageup", _("Read upwards")),
    Shortcut("pagedown", _("Read downwards")),
    Shortcut("?", _("These keys"), presses="[data-keys]"),
)
