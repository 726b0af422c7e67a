"""The account: of allauth signing in and out, signing up where it is open and changing one's password; beside it
where one is signed in.

Whatever needs mail isn't here, as Foldline sends none.
"""

from allauth.account import views
from django.urls import path, re_path, reverse_lazy
from django.views.generic import TemplateView

from chatapp import accounts
from chatapp.views import account

urlpatterns = [
    path(
        "login/",
        # Callables, so that the template asks anew each time.
        views.LoginView.as_view(
            extra_context={"no_account_yet": accounts.no_account_yet, "sign_up_open": accounts.sign_up_open}
        ),
        name="account_login",
    ),
    path("logout/", views.logout, name="account_logout"),
    path("inactive/", views.account_inactive, name="account_inactive"),
    path("signup/", views.signup, name="account_signup"),
    path("password/change/", views.password_change, name="account_change_password"),
    # Where the page above leads a person whose account was made without a password.
    path(
        "password/set/",
        views.PasswordSetView.as_view(template_name="account/password_change.html"),
        name="account_set_password",
    ),
    path(
        "password/reset/",
        TemplateView.as_view(template_name="account/password_reset.html"),
        name="account_reset_password",
    ),
    # The link that `manage.py resetpassword` prints.
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>[0-9A-Za-z-]+)/$",
        views.PasswordResetFromKeyView.as_view(success_url=reverse_lazy("account_login")),
        name="account_reset_password_from_key",
    ),
    path("devices/", account.devices, name="devices"),
    path("devices/<int:sign_in_id>/end/", account.end_device, name="end_device"),
    path("devices/end/", account.end_other_devices, name="end_other_devices"),
]
