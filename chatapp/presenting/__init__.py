"""What a page of a chat shows; the same for a whole page, a fragment and the socket."""

from chatapp.presenting.devices import read_devices
from chatapp.presenting.examples import EXAMPLES
from chatapp.presenting.finding import read_finding
from chatapp.presenting.fold import view_meter
from chatapp.presenting.frozen import read_frozen
from chatapp.presenting.pages import (
    Place,
    empty_page,
    live_run_of,
    may_see,
    read_archived,
    read_changes,
    read_earlier,
    read_linked,
    read_page,
    read_whole,
    revision_in,
)
from chatapp.presenting.shortcuts import SHORTCUTS
from chatapp.presenting.sidebar import place_asked, read_sidebar
from chatapp.presenting.values import ListPlace, MeterView
from chatapp.presenting.words import frame_in_words

__all__ = [
    "EXAMPLES",
    "SHORTCUTS",
    "ListPlace",
    "MeterView",
    "Place",
    "empty_page",
    "frame_in_words",
    "live_run_of",
    "may_see",
    "place_asked",
    "read_archived",
    "read_changes",
    "read_devices",
    "read_earlier",
    "read_finding",
    "read_frozen",
    "read_linked",
    "read_page",
    "read_sidebar",
    "read_whole",
    "revision_in",
    "view_meter",
]
