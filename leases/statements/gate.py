"""The gate of a queue: claims pass it side by side, a change of contract alone.

A claim reads its contract without a lock on that row, which all claims would share. So
a change has to wait for the claims that are under way, and those have to be over before
it counts who is there; else a limit could be passed, and a queue switched off while a
card is on its way to a worker. An advisory lock costs no write and no wait: a claim that
finds the gate shut takes nothing and says "at capacity".

Lock order everywhere: gate, columns, contract, cards, leases, slots.
"""

from uuid import UUID

from leases.statements.running import run

PASS = "pg_try_advisory_xact_lock_shared(%(gate)s)"


def gate(column_id: UUID) -> int:
    """The lock's number: the random half of the id, as a signed 64-bit number."""
    return int.from_bytes(column_id.bytes[8:], signed=True)


def shut(column_id: UUID) -> None:
    """Wait for the claims under way; keep new ones out until the transaction ends."""
    run("SELECT pg_advisory_xact_lock(%(gate)s)", {"gate": gate(column_id)})


def enter(column_id: UUID) -> None:
    """Pass the gate, after a wait where it's shut: for a claim that is about one card
    and has nothing else to offer."""
    run("SELECT pg_advisory_xact_lock_shared(%(gate)s)", {"gate": gate(column_id)})
