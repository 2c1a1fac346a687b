"""A row as a sentence, with its likely actions."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from accounts.callers import Caller
from accounts.roles import BoardRole
from accounts.shapes import ActorRef
from boards.shapes import CardBrief, card_key
from supervision.needs import shapes
from supervision.needs.reasons import FIRST_CARDS
from supervision.needs.scope import Place, Scope
from supervision.needs.shapes import Need, NeedAction

MAX_SAID = 200


def need(caller: Caller, seen: Scope, row: Any) -> Need:
    place = seen.places.get(row.column_id or row.place_id)
    place = place or seen.places[row.place_id]
    holder = None
    if row.holder_id:
        holder = ActorRef(row.holder_id, row.handle, row.name, row.kind)
    return Need(
        reason=row.reason,
        what=_SAID[row.reason](row, place),
        since=row.since,
        link=_link(row, place),
        priority=row.priority,
        board_id=place.board_id,
        board=place.board,
        column_id=place.column_id,
        column=place.column,
        card=_card(caller, row),
        lease_id=row.lease_id,
        holder=holder,
        actions=[
            action
            for role, action in _actions(caller, seen, row, place)
            if place.role >= role
        ],
    )


def duration(seconds: float) -> str:
    """ "45 seconds", "12 minutes", "3 hours", "2 days"."""
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= 2 * size or (size == 60 and seconds >= 60):
            return _many(int(seconds // size), name)
    return _many(max(1, int(seconds)), "second")


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _link(row: Any, place: Place) -> str:
    board = f"/boards/{place.board_id}"
    return f"{board}/cards/{row.id}" if row.id else f"{board}#col-{place.column_id}"


def _card(caller: Caller, row: Any) -> CardBrief | None:
    if row.id is None:
        return None
    return CardBrief(
        id=row.id,
        key=card_key(caller.workspace_key, row.number),
        board_id=row.board_id,
        column_id=row.column_id,
        title=row.title,
        state=row.state or None,
        attempts=row.attempts,
        available_at=row.available_at,
        version=row.version,
    )


def _dead(row: Any, place: Place) -> str:
    if row.attempt is None:
        return "It failed for good."
    tried = _many(max(row.attempts, 1), "attempt")
    if row.lease_state == "expired":
        return (
            f"It failed for good after {tried}: @{row.handle} let the last one lapse."
        )
    said = _cut(row.said)
    why = f": {said}" if said else ", without a reason."
    return f"It failed for good after {tried}, the last by @{row.handle}{why}"


def _lapsed(row: Any, place: Place) -> str:
    return (
        f"@{row.handle} let the lease of attempt {row.attempt} run out, and nobody has"
        " taken the card over yet."
    )


def _slow(row: Any, place: Place) -> str:
    worked = duration((row.now - row.acquired_at) / timedelta(seconds=1))
    usual = duration(row.figure)
    return (
        f"@{row.handle} has worked on it for {worked}; 95 % here take {usual} or less."
    )


def _lapsing(row: Any, place: Place) -> str:
    most = f" of {place.max_attempts}" if place.max_attempts else ""
    now = "at work" if row.state == "claimed" else "open again"
    return (
        f"Its lease ran out {int(row.figure)} times in this round; {now} after attempt"
        f" {row.attempts}{most}."
    )


def _misfit(row: Any, place: Place) -> str:
    problems = msgspec.json.decode(row.misfit) if row.misfit else []
    if not problems:
        return "It doesn't fit the queue's input schema."
    first = problems[0]
    what = _cut(f"{first.get('pointer', '')} {first.get('detail', '')}".strip())
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"It doesn't fit the input schema of {place.queue}: {what}{more}"


def _review(row: Any, place: Place) -> str:
    who = f"@{row.handle} has" if row.handle else "Somebody has"
    return f"{who} finished it; it waits in {place.column} for a look."


def _assigned(row: Any, place: Place) -> str:
    return f"It's assigned to you and ready in {place.queue or place.column}."


def _unattended(row: Any, place: Place) -> str:
    count = int(row.figure)
    many = f"{FIRST_CARDS} or more" if count >= FIRST_CARDS else str(count)
    waits = f"{many} card waits" if count == 1 else f"{many} cards wait"
    quiet = duration((row.now - row.since) / timedelta(seconds=1))
    return f"{waits} in {place.queue}, and no worker has asked for {quiet}."


_SAID = {
    shapes.DEAD_LETTER: _dead,
    shapes.LAPSED: _lapsed,
    shapes.SLOW: _slow,
    shapes.LAPSING: _lapsing,
    shapes.MISFIT: _misfit,
    shapes.REVIEW: _review,
    shapes.ASSIGNED: _assigned,
    shapes.UNATTENDED: _unattended,
}


def _actions(
    caller: Caller, seen: Scope, row: Any, place: Place
) -> list[tuple[BoardRole, NeedAction]]:
    """Each with the role that it takes."""
    if row.id is None:
        return []
    card: dict[str, Any] = {"card_id": row.id}
    take_back = NeedAction("revoke_lease", "Take it back", {"lease_id": row.lease_id})
    retry = NeedAction("requeue_card", "Retry", card)
    start = NeedAction("claim_card", "Start", card)
    mine = NeedAction("edit_card", "Assign to me", card | {"assignee": caller.handle})
    found = {
        shapes.DEAD_LETTER: [(BoardRole.EDITOR, retry)],
        shapes.LAPSED: [(BoardRole.MANAGER, take_back)],
        shapes.SLOW: [(BoardRole.MANAGER, take_back)],
        shapes.LAPSING: [(BoardRole.EDITOR, mine)],
        shapes.MISFIT: [(BoardRole.EDITOR, mine)],
        shapes.REVIEW: [*_onward(seen, row.column_id, card), (BoardRole.EDITOR, mine)],
        shapes.ASSIGNED: [(BoardRole.EDITOR, start)],
    }
    return found.get(row.reason, [])


def _onward(
    seen: Scope, column_id: UUID, card: dict[str, Any]
) -> list[tuple[BoardRole, NeedAction]]:
    after = seen.reviewed.get(column_id)
    if after is None:
        return []
    values = card | {"column_id": after.column_id}
    return [
        (BoardRole.EDITOR, NeedAction("move_card", f"Move to {after.column}", values))
    ]


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_SAID else text[: MAX_SAID - 1] + "…"
