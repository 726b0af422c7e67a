"""What a file of chats is called, and which columns it holds.

Rows are numbered from 1 within their chat, in the order in which they were made, so two exports of equal chats are
equal byte for byte. Left out on purpose: who owns it, keys and addresses, the endpoint's own words in an error, and
messages that still wait to be sent: nobody has said them yet, and a copy must not send them a second time. A temporary
chat in a file is an ordinary one: whoever exports it keeps it. The file of everything has “account” behind its chats
(account.py), which is to be read and never imported.
"""

from __future__ import annotations

FORMAT = "foldline-chats"
VERSION = 1

CHAT = ("title", "titled_by_hand", "system_prompt", "parameters", "policy", "created_at", "touched_at")
# How its owner keeps it; files of before have none of these. Beside them `folder` and `tags`, by their names.
KEPT = ("pinned_at", "archived_at")
MESSAGE = (
    "position",
    "active",
    "role",
    "status",
    "content",
    "reasoning",
    "reasoning_milliseconds",
    "tool_calls",
    "tool_call_id",
    "pinned",
    "deleted_at",
    "failure",
    "finish_reason",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "reasoning_tokens",
    "estimated_prompt_tokens",
    "window_tokens",
    "usage_outdated",
    "model_name",
    "request_extras",
    "created_at",
)
# Its image, in base64, is told beside these as "data"; messages name their files by number.
FILE = ("name", "kind", "text", "media_type", "is_cut", "created_at")
COMPACTION = (
    "trigger",
    "mode",
    "status",
    "reason",
    "from_position",
    "through_position",
    "message_count",
    "summary",
    "model_summary",
    "instructions",
    "values_found",
    "values_kept",
    "values_added",
    "values_left_out",
    "tokens_before",
    "tokens_after",
    "before_is_measured",
    "measured_offset",
    "measured_model",
    "model_name",
    "calls",
    "chunks_done",
    "chunks_total",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "cost",
    "started_at",
    "ended_at",
)
