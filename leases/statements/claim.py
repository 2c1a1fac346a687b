"""The claim as one statement."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from accounts.callers import Caller
from accounts.ids import new_id
from boards.events import EVENT_COLUMNS, LEASE_CLAIMED
from boards.models import Card
from boards.shapes import CardRow
from leases.contract import DEFAULT_LEASE_SECONDS
from leases.statements.gate import PASS, gate
from leases.statements.running import compact, embedded, run
from leases.tokens import new_nonce

# Stand-ins for the parameters of the embedded querysets.
_COLUMN, _ACTOR = UUID(int=1), UUID(int=2)
_LISTS = {name: [f"any {name}"] for name in ("skills", "labels", "asking")}
# What is told of a card that was taken: what its shape shows, and what events need.
_CARD = (
    *CardRow.__annotations__,
    *("assignee_id", "created_by_id", "workspace_id", "sequence"),
)
# Mine that come before the first one for anyone. Where nothing is kept for me (nearly
# always) it costs no look at that first one.
_BEFORE = "(priority, position, id) < (SELECT priority, position, id FROM front)"
_KEPT = "EXISTS (SELECT FROM mine)"


def _picked(queryset: QuerySet[Card], count: int, condition: str = "") -> str:
    text = embedded(queryset.values("id"), column=_COLUMN, actor=_ACTOR)
    for name, (stand_in,) in _LISTS.items():
        text = text.replace(f"ARRAY['{stand_in}']", f"%({name})s")
    select, order = text.split(" ORDER BY ")
    also = f" AND {condition}" if condition else ""
    return f"SELECT id FROM ({select}{also} ORDER BY {order} LIMIT {count}) AS c"


def _first(queryset: QuerySet[Card]) -> str:
    """The first one, only looked at."""
    fields = queryset.values("priority", "position", "id")
    text = embedded(fields, column=_COLUMN, actor=_ACTOR)
    return text.partition(" FOR NO KEY UPDATE")[0] + " LIMIT 1"


# Leases from before the limit was lowered hold slots above it.
_CROWDED = """SELECT FROM leases_slot o WHERE o.column_id = k.column_id
  AND o.number > k.concurrency_limit AND o.lease_id IS NOT NULL"""
# The highest slot that may be taken: with n of those above the limit held, n of the
# lower ones must stay empty.
_TOP = f"""CASE WHEN NOT EXISTS ({_CROWDED}) THEN k.concurrency_limit
  ELSE (SELECT max(number) FROM (SELECT o.number, o.number + count(o.lease_id) OVER (
      ORDER BY o.number DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS used
    FROM leases_slot o WHERE o.column_id = k.column_id) u
    WHERE used <= k.concurrency_limit) END"""


# Slots that are taken and freed leave versions behind, which a snapshot that somebody
# holds open keeps, and a claim that looks from the first slot walks past them all. So
# claims begin anywhere in the lower half, which is less full than the whole.
_ANYWHERE = """CASE WHEN k.concurrency_limit >= 16
  THEN 1 + floor(random() * k.concurrency_limit / 2)::int ELSE 1 END"""
_SECONDS = "COALESCE(%(seconds)s, k.lease_ttl_seconds, %(fallback)s)"


@dataclass(frozen=True)
class Way:
    """How a claim comes to its cards: the highest slot that may be taken, what is too
    unusual about the queue for this way, the cards as `picked` (id, n), and for how
    long they're taken."""

    top: str
    unusual: str
    picked: str
    seconds: str = _SECONDS
    # The slot to look from. Who finds none free from there on looks from the first.
    first: str = "1"


def _usual(count: int) -> Way:
    """Nothing is kept for the caller and no slot above the limit is held: the highest
    slot, what is unusual about the queue, and the cards."""
    kept = _first(Card.objects.claimable_by(_COLUMN, _ACTOR))
    unusual = f"EXISTS ({kept}) OR EXISTS ({_CROWDED})"
    cards = _picked(Card.objects.claimable(_COLUMN), count)
    return Way(
        "k.concurrency_limit",
        unusual,
        f"picked AS MATERIALIZED (SELECT id, {_numbers(count)} AS n FROM"
        f" ({cards} LIMIT (SELECT cards FROM room)) next)",
        first=_ANYWHERE if count == 1 else "1",
    )


def _usual_with_skills(count: int) -> Way:
    """The same for who has skills: unusual is also a card that asks for some."""
    kept = _first(Card.objects.kept_for(_COLUMN, _ACTOR).in_order())
    skilled = _first(Card.objects.asking_for_skills(_COLUMN).in_order())
    unusual = f"EXISTS ({kept}) OR EXISTS ({skilled}) OR EXISTS ({_CROWDED})"
    return replace(_usual(count), unusual=unusual)


def _chosen(count: int) -> Way:
    """By skills and labels, mine and anyone's in one walk along the queue."""
    cards = _picked(Card.objects.claimable_with(_COLUMN, _ACTOR, **_LISTS), count)
    return Way(
        _TOP,
        "false",
        f"picked AS MATERIALIZED (SELECT id, {_numbers(count)} AS n FROM"
        f" ({cards} LIMIT (SELECT cards FROM room)) next)",
    )


def _any(count: int) -> Way:
    """The same for every queue: dearer, though nothing more is looked at."""
    for_anyone = Card.objects.claimable(_COLUMN)
    for_me = Card.objects.claimable_by(_COLUMN, _ACTOR)
    return Way(
        _TOP,
        "false",
        f"""mine AS MATERIALIZED ({_first(for_me)}
), front AS MATERIALIZED ({_first(for_anyone)}
), picked AS MATERIALIZED (SELECT id, {_numbers(count)} AS n FROM (SELECT id FROM (
    {_picked(for_me, count, f"{_KEPT} AND {_BEFORE}")}
    UNION ALL {_picked(for_anyone, count)}
    UNION ALL {_picked(for_me, count, f"{_KEPT} AND ({_BEFORE}) IS NOT TRUE")}
  ) c LIMIT (SELECT cards FROM room)) next)""",
    )


def _one(count: int) -> Way:
    """This very card, which the verb has locked and found claimable."""
    return Way(
        _TOP,
        "false",
        """picked AS MATERIALIZED (SELECT o.id, 1 AS n FROM boards_card o, room
    WHERE o.id = %(card)s AND o.column_id = %(column)s AND o.state = 'open'
      AND room.cards > 0)""",
        "%(seconds)s::int",
    )


def _numbers(count: int) -> str:
    """The first, the second, …: which of the new ids and which slot is whose."""
    return "1" if count == 1 else "row_number() OVER ()"


@cache
def _statement(count: int, way: Callable[[int], Way]) -> str:
    """The whole claim. Parts, in order: what the contract says and whether something
    stands in the way; free slots; how many cards there is room for; the cards, locked
    one by one as they're taken; then the changes.

    Most of what a statement costs is what is set up for it, used or not. So nearly all
    claims are the `usual` one, which takes nothing where that isn't enough."""
    parts = way(count)
    card = ", ".join(f"c.{name}" for name in _CARD)
    number = "SELECT number FROM slot" + ("" if count == 1 else " WHERE slot.n = p.n")
    # Said twice for many: with statistics out of date the planner would otherwise compare
    # each place of the column with each card.
    filled = "s.number = t.slot"
    if count > 1:
        filled += " AND s.number = ANY(ARRAY(SELECT number FROM slot))"
    return compact(f"""
WITH asked AS MATERIALIZED (
  SELECT *, enabled AND NOT paused AND open AND NOT unusual
    AND (%(tidied)s OR NOT (untidy OR unjudged)) AS go,
    now + make_interval(secs => seconds) AS expires_at
  FROM (SELECT k.enabled, k.paused, k.max_attempts, k.concurrency_limit,
    {parts.top} AS top, {parts.first} AS first, {PASS} AS open,
    {parts.seconds} AS seconds,
    clock_timestamp() AS now,
    EXISTS (SELECT FROM leases_lease l WHERE l.column_id = k.column_id
      AND l.ended_at IS NULL AND l.expires_at <= statement_timestamp())
    OR EXISTS (SELECT FROM boards_card w WHERE w.column_id = k.column_id
      AND w.state = 'open' AND w.archived_at IS NULL
      AND w.available_at <= statement_timestamp()) AS untidy,
    EXISTS (SELECT FROM boards_card u WHERE u.column_id = k.column_id
      AND u.state = 'open' AND u.archived_at IS NULL AND u.fits IS NULL) AS unjudged,
    {parts.unusual} AS unusual
  FROM leases_contract k WHERE k.column_id = %(column)s) a
), slot AS MATERIALIZED (
  SELECT number, {_numbers(count)} AS n FROM (SELECT s.number FROM leases_slot s
    WHERE s.column_id = %(column)s AND s.lease_id IS NULL AND (SELECT go FROM asked)
      AND s.number >= (SELECT first FROM asked)
      AND s.number <= (SELECT top FROM asked)
    ORDER BY s.number LIMIT {count} FOR UPDATE OF s SKIP LOCKED) free
), room AS MATERIALIZED (
  SELECT CASE WHEN NOT go THEN 0
    WHEN concurrency_limit IS NULL THEN {count}
    ELSE (SELECT count(*) FROM slot) END AS cards FROM asked
), {parts.picked}, taken AS (
  UPDATE boards_card c SET state = 'claimed', attempts = c.attempts + 1,
    lease_id = (%(leases)s::uuid[])[p.n], holder_id = %(actor)s,
    version = c.version + 1, sequence = c.sequence + 1, updated_at = asked.now
  FROM asked, picked p WHERE c.id = p.id AND c.attempts < asked.max_attempts
  RETURNING p.n, ({number}) AS slot, {card}
), lease AS (
  INSERT INTO leases_lease (id, workspace_id, board_id, column_id, card_id, holder_id,
    token_id, state, attempt, nonce, slot, seconds, acquired_at, expires_at, renewals,
    outcome, reason, note)
  SELECT t.lease_id, t.workspace_id, t.board_id, t.column_id, t.id, %(actor)s,
    %(token)s, 'active', t.attempts, (%(nonces)s::bytea[])[t.n],
    t.slot, asked.seconds, asked.now, asked.expires_at,
    0, '', '', ''
  FROM asked, taken t
), filled AS (
  UPDATE leases_slot s SET lease_id = t.lease_id FROM taken t
  WHERE s.column_id = %(column)s AND {filled}
), event AS (
  INSERT INTO boards_event ({EVENT_COLUMNS})
  SELECT (%(events)s::uuid[])[t.n], t.workspace_id, '{LEASE_CLAIMED}', %(actor)s,
    %(token)s, t.board_id, t.column_id, t.id, t.lease_id, t.sequence,
    jsonb_build_object('lease', jsonb_build_object('id', t.lease_id,
      'attempt', t.attempts, 'max_attempts', asked.max_attempts,
      'holder', %(handle)s::text, 'acquired_at', asked.now,
      'expires_at', asked.expires_at))
  FROM asked, taken t
)
SELECT asked.enabled, asked.paused, asked.untidy, asked.unjudged, asked.unusual,
  asked.max_attempts, asked.seconds, asked.now, asked.expires_at, NOT asked.open
    OR asked.go AND asked.concurrency_limit IS NOT NULL
    AND NOT EXISTS (SELECT FROM slot) AS full,
  EXISTS (SELECT FROM picked) AS picked, {card}, (%(nonces)s::bytea[])[c.n] AS nonce,
  a.handle AS by_handle, a.name AS by_name, a.kind AS by_kind
FROM asked LEFT JOIN taken c ON true
LEFT JOIN accounts_actor a ON a.id = c.created_by_id {"" if count == 1 else "ORDER BY c.n"}
""")


# Apart, since hardly a card has been tried before, and what could be asked for costs the
# same in every claim.
_TRIED = compact("""
SELECT w.card, (SELECT jsonb_agg(h) FROM (
  SELECT l.attempt, l.state, x.handle AS holder, l.acquired_at, l.ended_at, l.reason,
    l.note
  FROM leases_lease l JOIN accounts_actor x ON x.id = l.holder_id
  WHERE l.card_id = w.card AND l.id <> w.lease
  ORDER BY l.acquired_at DESC LIMIT 5) h) AS attempts
FROM unnest(%(cards)s::uuid[], %(leases)s::uuid[]) AS w (card, lease)
""")


def attempts_before(rows: Sequence[Any]) -> dict[UUID, Any]:
    """The five latest tries at the cards of these rows before the one just begun, latest
    first, as JSON by the card's id; what has never been tried is missing."""
    # The first two in a card's history are that it was created and claimed.
    tried = [row for row in rows if row.sequence > 2]
    if not tried:
        return {}
    cards, leases = [row.id for row in tried], [row.lease_id for row in tried]
    found = run(_TRIED, {"cards": cards, "leases": leases})
    return {one.card: one.attempts for one in found if one.attempts}


def take(
    caller: Caller,
    column_id: UUID,
    count: int,
    seconds: int | None,
    *,
    tidied: bool,
    labels: Sequence[str] = (),
    asking: Sequence[str] = (),
) -> list[Any]:
    """Run it: no row where the column has no contract, else at least one; a row's `id`
    is the card's, null when none was taken. `tidied` = don't stop for overdue cards.

    None either, and `unusual`, where several of several kinds must be taken one by one.
    """
    parameters = _parameters(caller, column_id, count)
    parameters |= {"seconds": seconds, "tidied": tidied}
    parameters |= {"labels": list(labels), "asking": list(asking)}
    if labels or asking:
        return run(_statement(count, _chosen), parameters)
    usual, other = (_usual_with_skills, _chosen) if caller.skills else (_usual, _any)
    rows = run(_statement(count, usual), parameters)
    if rows and _may_be_more(rows[0]) and (count == 1 or other is _chosen):
        rows = run(_statement(count, other), parameters)
    return rows


def _may_be_more(row: Any) -> bool:
    return bool(row.unusual or (row.full and not row.paused))


def take_card(
    caller: Caller, column_id: UUID, card_id: UUID, seconds: int | None
) -> list[Any]:
    """The same for one given card, for just so long (None: without end)."""
    parameters = _parameters(caller, column_id, 1)
    parameters |= {"seconds": seconds, "tidied": True, "card": card_id}
    return run(_statement(1, _one), parameters)


def _parameters(caller: Caller, column_id: UUID, count: int) -> dict[str, Any]:
    return {
        "column": column_id,
        "gate": gate(column_id),
        "actor": caller.actor_id,
        "token": caller.token_id,
        "handle": caller.handle,
        "skills": list(caller.skills),
        # Only people may hold a card without end (design section 5).
        "fallback": DEFAULT_LEASE_SECONDS if caller.kind == "agent" else None,
        "leases": [new_id() for _ in range(count)],
        "events": [new_id() for _ in range(count)],
        "nonces": [new_nonce() for _ in range(count)],
    }
