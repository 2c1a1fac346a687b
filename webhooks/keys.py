"""Secrets at rest: sealed with the first of a list of keys, opened with any of them.

A key may be any text: what Fernet wants is derived from it. To rotate, put a new key in
front; whatever is sealed anew uses it, and the old one stays behind as long as needed.
"""

import hashlib
from base64 import urlsafe_b64encode

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from webhooks import conf

_PURPOSE = b"novum webhooks "


class Unopenable(Exception):
    """Sealed with a key that isn't in the list any more."""


def seal(text: str) -> str:
    return _box().encrypt(text.encode()).decode()


def opened(sealed: str) -> str:
    """Raises Unopenable."""
    try:
        return _box().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise Unopenable from None


def _box() -> MultiFernet:
    keys = conf.KEYS or [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_derived(key)) for key in keys])


def _derived(key: str) -> bytes:
    return urlsafe_b64encode(hashlib.sha256(_PURPOSE + key.encode()).digest())
