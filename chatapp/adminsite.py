"""The admin site: Foldline's own heading and order."""

from django.contrib.admin import AdminSite


class FoldlineAdminSite(AdminSite):
    site_header = "Foldline"
    site_title = "Foldline"
    index_title = "Settings"
