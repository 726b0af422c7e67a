"""How much is taken at most, for the sentences and fields that say so; the numbers are those that the code checks."""

from django import template

from chatapp.files.limits import MEGABYTE, MOST_BYTES, MOST_FILES, MOST_PIXELS
from chatapp.history.ordering import LONGEST_FOLDER, LONGEST_TAG, MOST_TAGS
from chatapp.history.queueing import MOST_WAITING
from chatapp.history.sharing import MOST_A_CHAT

register = template.Library()

LIMITS = {
    "file_bytes": MOST_BYTES,
    "file_megabytes": MOST_BYTES // MEGABYTE,
    "files": MOST_FILES,
    "image_megapixels": MOST_PIXELS // 1_000_000,
    "folder_characters": LONGEST_FOLDER,
    "tag_characters": LONGEST_TAG,
    "tags": MOST_TAGS,
    "links": MOST_A_CHAT,
    "waiting": MOST_WAITING,
}


@register.simple_tag
def limits() -> dict[str, int]:
    """A tag, as these are also said in what is pushed to pages, where no request is."""
    return LIMITS
