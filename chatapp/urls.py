"""Every address of Foldline."""

from django.contrib import admin
from django.urls import include, path

from chatapp.views import archives, chats, compactions, health, messages, pages, queue, requests, setup, turns, versions

in_chat = [
    path("", pages.chat, name="chat"),
    path("changes/", pages.changes, name="changes"),
    path("archived/", pages.archived, name="archived"),
    path("earlier/", pages.earlier, name="earlier"),
    path("print/", pages.printed, name="print"),
    path("send/", turns.send, name="send"),
    path("stop/", turns.stop, name="stop"),
    path("queue/<int:queued_id>/send/", queue.send_now, name="send_queued"),
    path("queue/<int:queued_id>/edit/", queue.edit, name="edit_queued"),
    path("queue/<int:queued_id>/discard/", queue.discard, name="discard_queued"),
    path("messages/<int:message_id>/regenerate/", turns.write_again, name="regenerate"),
    path("messages/<int:message_id>/retry/", turns.write_again, name="retry"),
    path("messages/<int:message_id>/continue/", turns.go_on, name="continue"),
    path("messages/<int:message_id>/show/", turns.show_version, name="show_version"),
    path("messages/<int:message_id>/edit/", versions.edit_message, name="edit_message"),
    path("messages/<int:message_id>/answer/", versions.answer, name="answer"),
    path("messages/<int:message_id>/fork/", versions.fork, name="fork"),
    path("compact/", compactions.compact, name="compact"),
    path("compactions/<int:compaction_id>/cancel/", compactions.cancel, name="cancel_compaction"),
    path("compactions/<int:compaction_id>/undo/", compactions.undo, name="undo_compaction"),
    path("compactions/", requests.earlier_compactions, name="compactions"),
    path("compactions/<int:compaction_id>/edit/", requests.edit_summary, name="edit_summary"),
    path("request/", requests.what_is_sent, name="request"),
    path("messages/<int:message_id>/pin/", requests.pin, name="pin"),
    path("messages/<int:message_id>/fresh/", requests.start_fresh, name="start_fresh"),
    path("messages/<int:message_id>/delete/", messages.delete, name="delete_message"),
    path("messages/<int:message_id>/restore/", messages.restore, name="restore_message"),
    path("rebuild/", messages.rebuild, name="rebuild"),
    path("policy/", requests.choose_policy, name="choose_policy"),
    path("meter/", compactions.meter, name="meter"),
    path("rename/", chats.rename, name="rename"),
    path("delete/", chats.delete, name="delete"),
    path("export/json/", archives.export_chat, name="export_chat"),
    path("export/markdown/", archives.export_markdown, name="export_markdown"),
    path("model/", chats.choose_model, name="choose_model"),
]

urlpatterns = [
    path("", pages.home, name="home"),
    path("chats/", turns.start, name="start"),
    path("chats/<uuid:chat_id>/", include(in_chat)),
    path("meter/", compactions.meter, name="new_meter"),
    path("export/", archives.export_all, name="export_all"),
    path("import/", archives.import_chats, name="import"),
    path("notice/", pages.dismiss_notice, name="dismiss_notice"),
    path("setup/<str:token>/", setup.set_up, name="setup"),
    path("healthz/", health.healthz, name="healthz"),
    path("accounts/", include("chatapp.account_urls")),
    path("admin/", admin.site.urls),
]
