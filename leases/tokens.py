"""The receipt of a claim: `nvml_` + base62 of HMAC-SHA256(key, lease id + nonce).

Derived, never stored: an idempotent replay can give it again, and nothing at rest
reveals it (decision D3). All keys in settings verify, the first mints.
"""

import hmac
from secrets import token_bytes
from uuid import UUID

from django.conf import settings
from django.utils.crypto import constant_time_compare

from accounts.tokens import base62

PREFIX = "nvml_"
NONCE_BYTES = 16


def new_nonce() -> bytes:
    return token_bytes(NONCE_BYTES)


def receipt(lease_id: UUID, nonce: bytes) -> str:
    return _derive(settings.LEASE_TOKEN_KEYS[0], lease_id, nonce)


def is_receipt(token: str, lease_id: UUID, nonce: bytes) -> bool:
    """Constant time per key; a token of the wrong length or alphabet is just wrong."""
    found = False
    for key in settings.LEASE_TOKEN_KEYS:
        found |= constant_time_compare(token, _derive(key, lease_id, nonce))
    return found


def _derive(key: str, lease_id: UUID, nonce: bytes) -> str:
    mac = hmac.digest(
        b"novum.lease:" + key.encode(), lease_id.bytes + bytes(nonce), "sha256"
    )
    return PREFIX + base62(int.from_bytes(mac), 43)
