"""The project's settings for a test session: a data directory of its own, nothing from the developer's environment."""

import os
import tempfile

_data = tempfile.TemporaryDirectory(prefix="foldline-tests-", ignore_cleanup_errors=True)
os.environ["FOLDLINE_DATA"] = _data.name
for _name in (
    "OPENAI_BASE_URL",
    "OPENAI_API_KEY",
    "OPENAI_MODEL",
    "LOCAL_MODEL",
    "PUBLIC_URL",
    "TRUSTED_PROXIES",
    "PRIVATE_ENDPOINTS",
    "SECRET_KEY_FALLBACKS",
    "HOST",
    "PORT",
    "DEBUG",
):
    os.environ.pop(_name, None)

from chatapp.settings import *  # noqa: E402, F403
from chatapp.settings import DATABASES, FOLDLINE_DATA, STATIC_ROOT, STORAGES  # noqa: E402

ALLOWED_HOSTS = ["localhost", "127.0.0.1", "testserver"]
# Argon2 takes its time on purpose; a test needn't.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Manifest names need collectstatic; templates under test don't.
STORAGES = STORAGES | {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
STATIC_ROOT.mkdir(parents=True)
# A file, as in life: threads that share an in-memory SQLite database meet table locks that no timeout waits for.
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["TEST"] = {"NAME": FOLDLINE_DATA / "test.sqlite3"}
