"""The rows: chats, messages, what waits, drafts, files, compactions, runs, usage, limits, endpoints, settings, log."""

from chatapp.models.audit import AuditEntry
from chatapp.models.chats import Chat
from chatapp.models.compactions import Compaction
from chatapp.models.drafts import Draft
from chatapp.models.endpoints import Endpoint, LanguageModel
from chatapp.models.files import Attachment, File
from chatapp.models.imports import Import, ImportedFile
from chatapp.models.limits import Allowance, DailyUse
from chatapp.models.messages import Message
from chatapp.models.ordering import Folder, Tag
from chatapp.models.presets import Preset
from chatapp.models.queue import QueuedMessage
from chatapp.models.runs import Run
from chatapp.models.shares import Share
from chatapp.models.sign_ins import SignIn
from chatapp.models.site import SiteSettings
from chatapp.models.usage import UsageRecord

__all__ = [
    "Allowance",
    "Attachment",
    "AuditEntry",
    "Chat",
    "Compaction",
    "DailyUse",
    "Draft",
    "Endpoint",
    "File",
    "Folder",
    "Import",
    "ImportedFile",
    "LanguageModel",
    "Message",
    "Preset",
    "QueuedMessage",
    "Run",
    "Share",
    "SignIn",
    "SiteSettings",
    "Tag",
    "UsageRecord",
]
