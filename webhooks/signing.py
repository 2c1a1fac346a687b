"""Standard Webhooks 1.0.0, symmetric signatures (`v1`).

Signed is `id.timestamp.body` with HMAC-SHA256; several signatures stand side by side
while a secret is being rotated. A secret is `whsec_` and base64 of 24 to 64 bytes.
"""

import hashlib
import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Sequence
from uuid import UUID

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    return PREFIX + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def message_id(event_id: UUID) -> str:
    """The header `webhook-id`: the same on every try and for every endpoint."""
    return f"msg_{event_id.hex}"


def signatures(
    keys: Sequence[str], message_id: str, timestamp: int, body: bytes
) -> str:
    """The header's value: one signature for each secret, the newest first."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return " ".join(f"v1,{_signature(key, signed)}" for key in keys)


def _signature(key: str, signed: bytes) -> str:
    raw = b64decode(key.removeprefix(PREFIX))
    return b64encode(hmac.digest(raw, signed, hashlib.sha256)).decode()
