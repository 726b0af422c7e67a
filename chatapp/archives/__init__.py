"""Chats as files: exported whole as JSON or as Markdown to read, and read again without trusting a word."""

from chatapp.archives.account import account_pieces
from chatapp.archives.exporting import chat_json, stream_json
from chatapp.archives.markdown import chat_markdown, stream_markdown_zip
from chatapp.archives.naming import file_name

__all__ = ["account_pieces", "chat_json", "chat_markdown", "file_name", "stream_json", "stream_markdown_zip"]
