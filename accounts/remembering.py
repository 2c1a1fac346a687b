"""Idempotency keys: the same key and body, the same thing made, once.

Follows draft-ietf-httpapi-idempotency-key-header-07 and decision D4: only what made
something is remembered, for 24 hours, per credential and operation.
"""

import hashlib
from collections.abc import Callable, Sequence
from datetime import timedelta
from uuid import UUID

from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models.functions import Now

from accounts.anew import begins_anew
from accounts.callers import Caller
from accounts.errors import Conflict, Invalid
from accounts.models import RememberedCall

MAX_KEY_CHARACTERS = 255
# How long a second call waits for the first one with its key to end.
WAIT_MILLISECONDS = 5_000
LOCK_NOT_AVAILABLE = "55P03"


class KeyReused(Invalid):
    """This Idempotency-Key was used with another request. Take a new one."""

    code = "idempotency_key_reused"


class KeyInUse(Conflict):
    """The first request with this Idempotency-Key is still running."""

    code = "idempotency_key_in_use"


@begins_anew
def once[T](
    caller: Caller,
    *,
    operation: str,
    key: str,
    request: bytes,
    make: Callable[[], T],
    made_by: Callable[[T], Sequence[UUID]],
    again: Callable[[Sequence[UUID]], T],
) -> T:
    """`make()` the first time, `again(what it made)` from then on.

    Everything in one transaction: a crash before the commit leaves no key behind, one
    after it leaves the key with what was made. What makes nothing isn't remembered.
    Where `make` must have something done outside of it, it's left and begun anew.
    Raises Invalid (a bad key), KeyReused, KeyInUse, and what `make` raises.
    """
    if not 1 <= len(key) <= MAX_KEY_CHARACTERS or not key.isprintable():
        raise Invalid.at(
            "/idempotency_key",
            "bad_key",
            f"A key has 1 to {MAX_KEY_CHARACTERS} visible characters.",
        )
    fingerprint = hashlib.sha256(request).digest()
    with transaction.atomic():
        call = _first(caller, operation, key, fingerprint)
        if call is not None:
            result = make()
            call.made = list(made_by(result))
            if call.made:
                call.save(update_fields=["made"])
            else:
                call.delete()
            return result
        known = RememberedCall.objects.get(
            credential=caller.credential_id, operation=operation, key=key
        )
    if bytes(known.fingerprint) != fingerprint:
        raise KeyReused
    return again(known.made)


def _first(
    caller: Caller, operation: str, key: str, fingerprint: bytes
) -> RememberedCall | None:
    """The row that makes this call the first with its key; None for a later one."""
    mine = {"credential": caller.credential_id, "operation": operation, "key": key}
    oldest = Now() - timedelta(seconds=RememberedCall.KEPT_SECONDS)
    RememberedCall.objects.filter(**mine, created_at__lt=oldest).delete()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            # A call at the same time waits here for the other's commit.
            cursor.execute(f"SET LOCAL lock_timeout = {WAIT_MILLISECONDS}")
            call = RememberedCall.objects.create(**mine, fingerprint=fingerprint)
            cursor.execute("SET LOCAL lock_timeout TO DEFAULT")
            return call
    except IntegrityError:
        return None
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") != LOCK_NOT_AVAILABLE:
            raise
        raise KeyInUse(retry_after_seconds=1) from error
