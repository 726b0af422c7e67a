"""Every address of Foldline."""

from django.contrib import admin
from django.urls import include, path

from chatapp.views import setup

urlpatterns = [
    path("accounts/", include("chatapp.account_urls")),
    path("admin/", admin.site.urls),
    path("setup/<str:token>/", setup.set_up, name="setup"),
]
