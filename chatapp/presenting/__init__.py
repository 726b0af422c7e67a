"""What a page of a chat shows; the same for a whole page, a fragment and the socket."""

from chatapp.presenting.fold import view_meter
from chatapp.presenting.pages import (
    empty_page,
    live_run_of,
    may_see,
    read_archived,
    read_changes,
    read_earlier,
    read_page,
    revision_in,
)
from chatapp.presenting.sidebar import read_sidebar
from chatapp.presenting.values import MeterView

__all__ = [
    "MeterView",
    "empty_page",
    "live_run_of",
    "may_see",
    "read_archived",
    "read_changes",
    "read_earlier",
    "read_page",
    "read_sidebar",
    "revision_in",
    "view_meter",
]
