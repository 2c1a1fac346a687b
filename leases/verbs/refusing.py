"""A receipt that was good once: refused, and remembered for the card's timeline."""

from typing import Any

from accounts.callers import Caller
from leases.errors import LeaseLost
from leases.statements.running import compact, run
from leases.verbs.holding import lost

_COUNT = compact("""
INSERT INTO leases_refusal (lease_id, verb, credential, times)
VALUES (%(lease)s, %(verb)s, %(credential)s, 1)
ON CONFLICT (lease_id, verb, credential)
DO UPDATE SET times = leases_refusal.times + 1, last_at = clock_timestamp()
""")


def refused(caller: Caller, row: Any, verb: str) -> LeaseLost:
    """The error for a holder whose lease has ended or lapsed; the try is counted.

    Card and lease stay as they are: an ended receipt changes nothing of theirs.
    """
    parameters = {"lease": row.id, "verb": verb, "credential": caller.credential_id}
    run(_COUNT, parameters)
    return lost(caller, row)
