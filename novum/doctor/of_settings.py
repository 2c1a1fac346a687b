"""What the settings say about themselves."""

import shutil
from collections.abc import Iterator
from urllib.parse import urlsplit

from django.conf import settings

from novum.doctor.findings import Finding, ok, problem, warning

SECRET_CHARACTERS, SECRET_VARIETY = 50, 10
LOCAL = {"localhost", "127.0.0.1", "::1"}
FEW_BYTES, TOO_FEW_BYTES = 2_000_000_000, 300_000_000


def keys() -> Iterator[Finding]:
    key: str = settings.SECRET_KEY
    weak = len(key) < SECRET_CHARACTERS or len(set(key)) < SECRET_VARIETY
    if weak or key.startswith("django-insecure") or "change" in key.lower():
        yield problem(
            "keys",
            "SECRET_KEY can be guessed.",
            "Make one of 50 random characters, with the former one in"
            " SECRET_KEY_FALLBACKS so that nothing sealed is lost.",
        )
    else:
        yield ok("keys", "SECRET_KEY is long enough.")


def debug() -> Iterator[Finding]:
    if settings.DEBUG:
        yield problem(
            "debug",
            "DEBUG is on: errors show the source and what it was working with.",
            "Unset DEBUG wherever others get in.",
        )
    else:
        yield ok("debug", "DEBUG is off.")


def addresses() -> Iterator[Finding]:
    found = urlsplit(settings.NOVUM_URL)
    if found.scheme == "https":
        yield ok("https", f"People come by {settings.NOVUM_URL}.")
    elif found.hostname in LOCAL:
        yield ok("https", "Without TLS, on this machine only.")
    else:
        yield warning(
            "https",
            f"{settings.NOVUM_URL} is without TLS: passwords and tokens can be read"
            " on the way.",
            "Put a proxy with TLS in front and set NOVUM_URL to https://…",
        )
    if found.scheme == "https" and not settings.TRUSTED_PROXIES:
        yield warning(
            "https",
            "No proxy is trusted, so calls seem to come from the proxy, and by http.",
            "Set NOVUM_TRUSTED_PROXIES to how many stand in front.",
        )
    if "*" in settings.ALLOWED_HOSTS:
        yield warning(
            "https",
            "Any name is answered to (ALLOWED_HOSTS has *).",
            "Name the hosts instead.",
        )


def disk() -> Iterator[Finding]:
    """Of the folder with the embedded database's data."""
    if not settings.EMBEDDED:
        return
    free = shutil.disk_usage(settings.NOVUM_DATA).free
    told = f"{free / 1e9:.1f} GB are free where the data is."
    advice = "Free some space, or move NOVUM_DATA; PostgreSQL stops when it's full."
    if free < TOO_FEW_BYTES:
        yield problem("disk", told, advice)
    elif free < FEW_BYTES:
        yield warning("disk", told, advice)
    else:
        yield ok("disk", told)
