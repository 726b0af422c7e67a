"""Finding what was said: titles, messages and summaries of a person's own chats, by the database's own text search."""

from chatapp.searching.finding import Hit, find_chats, find_in_chat, search

__all__ = ["Hit", "find_chats", "find_in_chat", "search"]
