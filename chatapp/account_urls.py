"""The account: of allauth signing in and out, signing up where it is open and changing one's password; beside it
where one is signed in.

Whatever needs mail isn't here, as Foldline sends none.
"""

from allauth.account import views
from allauth.mfa.base import views as factors
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as app
from allauth.mfa.webauthn import views as passkeys
from django.urls import path, re_path, reverse_lazy
from django.views.generic import TemplateView

from chatapp import accounts, issuers
from chatapp.views import account, issuer
from chatapp.views.second_factors import SecondFactors

CONFIRM = "account/reauthenticate.html"

urlpatterns = [
    path(
        "login/",
        # Callables, so that the template asks anew each time.
        views.LoginView.as_view(
            extra_context={
                "no_account_yet": accounts.no_account_yet,
                "sign_up_open": accounts.sign_up_open,
                "issuer": issuers.name,
            }
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
    path("issuer/", issuer.sign_in, name="issuer_sign_in"),
    path("issuer/<slug:provider_id>/callback/", issuer.come_back, name="openid_connect_callback"),
    path("confirm/", views.ReauthenticateView.as_view(template_name=CONFIRM), name="account_reauthenticate"),
    path("confirm/code/", factors.ReauthenticateView.as_view(template_name=CONFIRM), name="mfa_reauthenticate"),
    path(
        "confirm/passkey/",
        passkeys.ReauthenticateWebAuthnView.as_view(template_name=CONFIRM),
        name="mfa_reauthenticate_webauthn",
    ),
    path("login/second-factor/", factors.authenticate, name="mfa_authenticate"),
    path("login/passkey/", passkeys.login_webauthn, name="mfa_login_webauthn"),
    path("second-factor/", SecondFactors.as_view(), name="mfa_index"),
    path("second-factor/app/", app.activate_totp, name="mfa_activate_totp"),
    path("second-factor/app/remove/", app.deactivate_totp, name="mfa_deactivate_totp"),
    path("second-factor/codes/", codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path("second-factor/codes/new/", codes.generate_recovery_codes, name="mfa_generate_recovery_codes"),
    path("second-factor/codes/download/", codes.download_recovery_codes, name="mfa_download_recovery_codes"),
    path("second-factor/passkeys/add/", passkeys.add_webauthn, name="mfa_add_webauthn"),
    path(
        "second-factor/passkeys/<int:pk>/remove/",
        passkeys.RemoveWebAuthnView.as_view(success_url=reverse_lazy("mfa_index")),
        name="mfa_remove_webauthn",
    ),
    path("delete/", account.delete_account, name="delete_account"),
    path("devices/", account.devices, name="devices"),
    path("devices/<int:sign_in_id>/end/", account.end_device, name="end_device"),
    path("devices/end/", account.end_other_devices, name="end_other_devices"),
]
