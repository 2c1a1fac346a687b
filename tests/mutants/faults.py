"""Faults that systems of this kind really had, as changes of our source text."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """`changes` are (file, what stands there, what stands there instead); `tests` are
    those that must notice, as pytest takes them."""

    name: str
    changes: tuple[tuple[str, str, str], ...]
    tests: tuple[str, ...]


CLAIM = "leases/statements/claim.py"
COMPLETING = "leases/statements/completing.py"
GIVING_BACK = "leases/statements/giving_back.py"
RENEWING = "leases/statements/renewing.py"
# For statements that should write their events themselves: in a transaction of its own.
ELSEWHERE = (
    "boards/events.py",
    "EVENT_COLUMNS = (\n",
    "def elsewhere(type: str, rows: Any) -> None:\n"
    "    from concurrent.futures import ThreadPoolExecutor\n\n"
    "    with ThreadPoolExecutor(1) as other:\n"
    "        for row in rows:\n"
    "            if row.id:\n"
    "                told = {'workspace_id': row.workspace_id, 'type': type}\n"
    "                other.submit(Event.objects.create, **told).result()\n\n\n"
    "EVENT_COLUMNS = (\n",
)

FAULTS = (
    Fault(
        "a claim waits for cards that others have locked (no SKIP LOCKED)",
        (
            (
                "boards/models/cards.py",
                "select_for_update(skip_locked=True, no_key=True)",
                "select_for_update(no_key=True)",
            ),
        ),
        ("tests/races/test_open_claims.py",),
    ),
    Fault(
        "fail does not look at the receipt",
        (
            (
                "leases/verbs/give_back.py",
                "row = only(held(caller, {lease_id: lease_token}))\n    return _end(\n",
                "row = look(caller.workspace_id, [lease_id])[lease_id]\n    return _end(\n",
            ),
        ),
        ("tests/leases/test_fail.py",),
    ),
    Fault(
        "attempts are counted when they fail, not when they are claimed",
        (
            (CLAIM, "attempts = c.attempts + 1", "attempts = c.attempts"),
            (
                GIVING_BACK,
                "attempts = c.attempts - {0 if how.counted else 1}",
                "attempts = c.attempts + {1 if how.delayed else 0}",
            ),
        ),
        ("tests/leases/test_claim.py", "tests/leases/test_fail.py"),
    ),
    Fault(
        "a renewal reads the clock before it waits for the lock (now())",
        (
            (
                RENEWING,
                "SELECT held.*, clock_timestamp() AS now",
                "SELECT held.*, now() AS now",
            ),
        ),
        ("tests/races/test_expiry_races.py",),
    ),
    Fault(
        "an event is written outside of the transaction that it tells of",
        (
            (
                "boards/events.py",
                "    return Event.objects.create(\n",
                "    from concurrent.futures import ThreadPoolExecutor\n\n"
                "    def elsewhere(**fields: Any) -> Event:\n"
                "        with ThreadPoolExecutor(1) as other:\n"
                "            return other.submit(Event.objects.create, **fields)"
                ".result()\n\n"
                "    return elsewhere(\n",
            ),
        ),
        ("tests/races/test_open_claims.py",),
    ),
    Fault(
        "a claim's event is written outside of its transaction",
        (
            ELSEWHERE,
            (
                CLAIM,
                "  FROM asked, taken t\n)\nSELECT",
                "  FROM asked, taken t WHERE false\n)\nSELECT",
            ),
            (CLAIM, "import EVENT_COLUMNS,", "import elsewhere, EVENT_COLUMNS,"),
            (
                CLAIM,
                "    return rows\n\n\ndef _may_be_more",
                "    elsewhere(LEASE_CLAIMED, rows)\n"
                "    return rows\n\n\ndef _may_be_more",
            ),
        ),
        ("tests/races/test_open_claims.py",),
    ),
    Fault(
        "a completion's event is written outside of its transaction",
        (
            ELSEWHERE,
            (
                COMPLETING,
                'event(events.LEASE_COMPLETED, "l.n", "c.sequence")',
                'event(events.LEASE_COMPLETED, "l.n", "c.sequence", "false")',
            ),
            (COMPLETING, "    return told(run(", "    return _elsewhere(run("),
            (
                COMPLETING,
                "\ndef complete(\n",
                "\ndef _elsewhere(rows: list[Any]) -> list[Any]:\n"
                "    events.elsewhere(events.LEASE_COMPLETED, rows)\n"
                "    return told(rows)\n\n\n"
                "def complete(\n",
            ),
        ),
        ("tests/races/test_open_claims.py",),
    ),
    Fault(
        "the limit is counted without a lock",
        (
            (
                CLAIM,
                "ELSE (SELECT count(*) FROM slot) END",
                "ELSE GREATEST(0, concurrency_limit - (SELECT count(*)"
                " FROM leases_lease x WHERE x.column_id = %(column)s"
                " AND x.ended_at IS NULL)) END",
            ),
        ),
        ("tests/races/test_open_claims.py",),
    ),
    Fault(
        "events are marked as told while older transactions still run",
        (
            (
                "tasks_people/verbs/gather.py",
                "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint",
                "SELECT pg_current_xact_id()::text::bigint",
            ),
        ),
        ("tests/tasks_people/test_hearing_back.py",),
    ),
)
