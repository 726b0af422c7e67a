"""What of allauth is offered: signing in and out, signing up where it is open, and changing one's password.

Whatever needs mail isn't here, as Foldline sends none.
"""

from allauth.account import views
from django.urls import path
from django.views.generic import TemplateView

from chatapp import accounts

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
]
