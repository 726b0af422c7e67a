"""Reading changes nothing: every address, asked by its owner, who is on the staff, too, leaves all tables be."""

from __future__ import annotations

import pytest

from chatapp.models import SiteSettings
from tests.doors.dumping import difference, dump
from tests.doors.routes import all_routes
from tests.doors.world import admin_rows, furnish, ids_in_admin
from tests.people import signed_in

pytestmark = pytest.mark.django_db

# On a chat's page: the divider's link, a linked message, Find; on the first page an example; of lists what comes next.
QUERIES = ("", "?archived&m=0&here=secret&seen=0&example=1&q=secret&older=x&from=1&p=2&page=2")


READ = {200, 302, 405}


def test_reading_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """alice's chat is unread, too; and every address that can be read is read, so that none is left out unseen."""
    caplog.set_level("CRITICAL", "django.request")
    SiteSettings.get_solo()
    alice = furnish("alice", is_staff=True, is_superuser=True)
    rows, client = admin_rows(alice.person), signed_in(alice.person)
    client.get("/")  # where one is signed in is noted with the first request
    problems, unread, before = [], [], dump()
    for route in all_routes():
        address = route.address(alice.ids | ids_in_admin(route.template, rows))
        queries = QUERIES[:1] if route.name.startswith("admin:") else QUERIES
        asked = [("GET", query, htmx) for query in queries for htmx in ("", "true")]
        statuses = set()
        for method, query, htmx in [*asked, ("HEAD", "", "")]:
            response = client.generic(method, address + query, headers={"HX-Request": htmx} if htmx else {})
            statuses.add(response.status_code)
        if not statuses & READ or max(statuses) >= 500:
            unread.append(f"{route}: {statuses}")
        after = dump() | {
            "chatapp_auditentry": before["chatapp_auditentry"]
        }  # that an export of it is in it is its point
        problems += [f"{route}: {line}" for line in difference(before, after)]
        before = after
    assert not problems, "\n".join(problems)
    own = {each.split(":")[0] for each in unread if not each.startswith(("admin/", "accounts/"))}
    assert own == {"setup/{token}/", "metrics"}, unread  # of the others some want a factor, or forbid what isn't theirs
