"""What an operator sets up or reads, in the order shown: settings, endpoints, models, compactions, ledger, presets,
users, audit log.

Chats and messages are not here and never will be: staff sees figures, not what people write.
"""

from django.contrib import admin
from django.contrib.auth.models import User

from chatapp.admin.audit import AuditAdmin
from chatapp.admin.compactions import CompactionAdmin
from chatapp.admin.endpoints import EndpointAdmin
from chatapp.admin.ledger import LedgerAdmin
from chatapp.admin.models import LanguageModelAdmin
from chatapp.admin.presets import PresetAdmin
from chatapp.admin.settings import SettingsAdmin
from chatapp.admin.users import PersonAdmin
from chatapp.models import AuditEntry, Compaction, Endpoint, LanguageModel, Preset, SiteSettings, UsageRecord

admin.site.register(SiteSettings, SettingsAdmin)
admin.site.register(Endpoint, EndpointAdmin)
admin.site.register(LanguageModel, LanguageModelAdmin)
admin.site.register(Compaction, CompactionAdmin)
admin.site.register(UsageRecord, LedgerAdmin)
admin.site.register(Preset, PresetAdmin)
admin.site.register(User, PersonAdmin)
admin.site.register(AuditEntry, AuditAdmin)
