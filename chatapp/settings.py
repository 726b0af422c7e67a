"""Django's settings: every value that an operator may set comes from the environment and has a default."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from csp.constants import NONE, SELF

from chatapp.addresses import own_names
from chatapp.environment import read_environment
from chatapp.logs import FORMATS, LEVELS, logging_settings

BASE_DIR = Path(__file__).resolve().parent.parent
ENVIRONMENT = read_environment()

# Foldline's own
HOST = ENVIRONMENT.text("HOST", "127.0.0.1")
PORT = ENVIRONMENT.number("PORT", 8000, least=1, most=65535)
FOLDLINE_DATA = Path(ENVIRONMENT.text("FOLDLINE_DATA", str(BASE_DIR / "data"))).absolute()
REDIS_URL = ENVIRONMENT.text("REDIS_URL")
OPENAI_BASE_URL = ENVIRONMENT.text("OPENAI_BASE_URL")
ENDPOINT_DESTINATIONS = ENVIRONMENT.destinations("PRIVATE_ENDPOINTS", base_url=OPENAI_BASE_URL)
OPENAI_API_KEY = ENVIRONMENT.text("OPENAI_API_KEY")
OPENAI_MODEL = ENVIRONMENT.text("OPENAI_MODEL")
LOCAL_MODEL = ENVIRONMENT.text("LOCAL_MODEL")
LOCAL_MODEL_CONTEXT = ENVIRONMENT.number("LOCAL_MODEL_CONTEXT", 8192, least=256, most=1_048_576)
PUBLIC_URL = ENVIRONMENT.origin("PUBLIC_URL")
# Who is believed about whom it speaks for, and whether by HTTPS (intake.py). A private network is no proof: in it are
# other people's machines and containers, too.
TRUSTED_PROXIES = ENVIRONMENT.networks("TRUSTED_PROXIES", "127.0.0.0/8,::1")
# So long /readyz/ says 503 before the process stops, that a proxy has seen it.
DRAIN_SECONDS = ENVIRONMENT.number("DRAIN_SECONDS", 0, least=0, most=300)
LOG_FORMAT = ENVIRONMENT.one_of("LOG_FORMAT", FORMATS)
LOG_LEVEL = ENVIRONMENT.one_of("LOG_LEVEL", LEVELS, default="INFO")
# Whoever has it may fetch /metrics; without one there is no such page.
METRICS_TOKEN = ENVIRONMENT.token("METRICS_TOKEN")
BODY_LIMIT_BYTES = 4 * 1024 * 1024
# A file to be imported comes in parts, each a body of its own; a browser without JavaScript sends it as one.
IMPORT_LIMIT_BYTES = 500 * 1024 * 1024
IMPORT_FORM_LIMIT_BYTES = 50 * 1024 * 1024

DEBUG = ENVIRONMENT.switch("DEBUG", default=False)
SECRET_KEY = ENVIRONMENT.secret("SECRET_KEY", FOLDLINE_DATA / "secret")
# Former ones: what they signed or sealed is still read.
SECRET_KEY_FALLBACKS = ENVIRONMENT.words("SECRET_KEY_FALLBACKS")
_public = urlsplit(PUBLIC_URL)
ALLOWED_HOSTS = [*ENVIRONMENT.words("ALLOWED_HOSTS"), *filter(None, [_public.hostname]), *own_names(HOST)]
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if PUBLIC_URL else []

INSTALLED_APPS = [
    "chatapp.apps.FoldlineConfig",
    "chatapp.apps.FoldlineAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "channels",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "axes",
    "csp",
    "django_htmx",
    "solo",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "chatapp.middleware.RequestLog",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "axes.middleware.AxesMiddleware",
    "chatapp.middleware.note_sign_ins",
    "chatapp.middleware.stay_in_one_thread",
]

ROOT_URLCONF = "chatapp.urls"
ASGI_APPLICATION = "chatapp.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "chatapp.presenting.looks.looks",
            ]
        },
    }
]

# PostgreSQL by DATABASE_URL, SQLite in FOLDLINE_DATA otherwise.
SQLITE = {
    "ENGINE": "django.db.backends.sqlite3",
    "NAME": FOLDLINE_DATA / "foldline.sqlite3",
    # Four writers: 57 % "database is locked" by default, 62 % with WAL alone, 0 % with IMMEDIATE.
    "OPTIONS": {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-20000;",
    },
}
DATABASES = {"default": ENVIRONMENT.database("DATABASE_URL", SQLITE)}
DATABASE_CONNECTIONS = ENVIRONMENT.number("DATABASE_CONNECTIONS", 10, least=2, most=100)
if DATABASES["default"] is not SQLITE:
    _options = DATABASES["default"].setdefault("OPTIONS", {})
    # Persistent connections leak under ASGI (37 in 100 requests at CONN_MAX_AGE=60); the pool holds its size.
    _options["pool"] = {
        "min_size": 1,
        "max_size": DATABASE_CONNECTIONS,
        "timeout": 5,
        # After so long it is tried as soon as somebody asks, not after pauses that double up to five minutes.
        "reconnect_timeout": 4,
    }
    # A process that is stopped or cut off within a transaction would keep the locks of a chat for as long as it is.
    _options["options"] = f"{_options.get('options', '')} -c idle_in_transaction_session_timeout=20s".strip()
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# The in-memory layer serves one process; Valkey or Redis (PubSub: no queue that drops for a slow reader) many.
CHANNEL_LAYERS = {
    "default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [REDIS_URL]}}
    if REDIS_URL
    else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
}

# Accounts
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
PASSWORD_HASHERS = [
    "chatapp.hashing.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_ADAPTER = "chatapp.accounts.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
# allauth's own begins by storing an address of whoever is asked for, for anybody who opens a made-up link.
ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR = "django.contrib.auth.tokens.PasswordResetTokenGenerator"  # noqa: S105 (a name)
ACCOUNT_LOGOUT_ON_GET = False
MFA_ADAPTER = "chatapp.second_factors.Adapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Foldline"
MFA_TOTP_TOLERANCE = 1  # one code before and after: clocks differ
MFA_ALLOW_UNVERIFIED_EMAIL = True  # Foldline sends no mail, so none is ever verified
MFA_FORMS = {
    "authenticate": "chatapp.second_factors.CodeForm",
    "reauthenticate": "chatapp.second_factors.ConfirmingForm",
    "add_webauthn": "chatapp.second_factors.PasskeyForm",
}
# Signing in at somebody else's: the issuer is the operator's word and comes from the environment alone.
OIDC_ISSUER = ENVIRONMENT.text("OIDC_ISSUER").rstrip("/")
OIDC_CLIENT_ID = ENVIRONMENT.text("OIDC_CLIENT_ID")
OIDC_NAME = ENVIRONMENT.text("OIDC_NAME", "OpenID Connect")
OIDC_SIGN_UP = ENVIRONMENT.switch("OIDC_SIGN_UP", default=False)
OIDC_DOMAINS = [domain.lower() for domain in ENVIRONMENT.words("OIDC_DOMAINS")]
OIDC_GROUPS = ENVIRONMENT.words("OIDC_GROUPS")
OIDC_STAFF_GROUP = ENVIRONMENT.text("OIDC_STAFF_GROUP")
SOCIALACCOUNT_ADAPTER = "chatapp.issuers.Adapter"
SOCIALACCOUNT_EMAIL_AUTHENTICATION = SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_REQUESTS_TIMEOUT = 10
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": "issuer",
                "name": OIDC_NAME,
                "client_id": OIDC_CLIENT_ID,
                "secret": ENVIRONMENT.text("OIDC_CLIENT_SECRET"),
                "settings": {"server_url": OIDC_ISSUER},
            }
        ],
    }
}
# What `manage.py resetpassword` prints is used at once.
PASSWORD_RESET_TIMEOUT = 3600
ACCOUNT_SESSION_REMEMBER = True
EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"

# Axes counts failed sign-ins by account and address; ten in a row close that pair for a quarter of an hour. It does so
# in the database, for all processes; allauth's own count of them lives in one process's memory and would come first.
# Its other limits are by address, network or browser (lockout.py), in each process.
ACCOUNT_RATE_LIMITS = {
    "login_failed": None,
    "signup": "5/m/ip,20/h/ip",
    "change_password": "5/m/user,20/h/user",
    "reauthenticate": "5/m/user,20/h/user",
}
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_HANDLER = "chatapp.lockout.Handler"
AXES_USERNAME_CALLABLE = "chatapp.lockout.name_of"
AXES_CLIENT_IP_CALLABLE = "chatapp.lockout.address_of"
AXES_LOCKOUT_TEMPLATE = "account/lockout.html"
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

# Language, time, files. A person's choice is a cookie, so that it holds before signing in, too; without one the
# browser's Accept-Language decides. Each language is named in itself (docs/translating.md).
LANGUAGE_CODE = "en-gb"
LANGUAGES = [("en-gb", "English"), ("fr", "Français"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "chatapp.formats"
LANGUAGE_COOKIE_AGE = 31_536_000
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
USE_TZ = True
TIME_ZONE = ENVIRONMENT.time_zone("TZ")
STATIC_URL = "static/"
STATIC_ROOT = FOLDLINE_DATA / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
DATA_UPLOAD_MAX_MEMORY_SIZE = BODY_LIMIT_BYTES
# Every chat that is ticked in a long list is a field.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000

# Browser security. No inline script or style anywhere; HTTPS switches follow PUBLIC_URL.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "manifest-src": [SELF],
    }
}
IS_HTTPS = PUBLIC_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = SECURE_SSL_REDIRECT = IS_HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if IS_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = False
SECURE_REDIRECT_EXEMPT = [r"^healthz/$", r"^readyz/$"]
SECURE_REFERRER_POLICY = "same-origin"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if IS_HTTPS else None
SESSION_COOKIE_HTTPONLY = True
X_FRAME_OPTIONS = "DENY"

# Whether subdomains and preload lists are to be bound as well is for the domain's owner to say, not for us.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

LOGGING = logging_settings(form=LOG_FORMAT, level=LOG_LEVEL)
