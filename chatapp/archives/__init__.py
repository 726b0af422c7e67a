"""Chats as files: exported whole as JSON or as Markdown to read, and read again without trusting a word."""

from chatapp.archives.exporting import chat_json, stream_json
from chatapp.archives.markdown import chat_markdown
from chatapp.archives.naming import file_name
from chatapp.archives.reading import Candidate, Unreadable, read_archive

__all__ = [
    "Candidate",
    "Unreadable",
    "chat_json",
    "chat_markdown",
    "file_name",
    "read_archive",
    "stream_json",
]
