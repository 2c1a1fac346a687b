"""Which cards a bulk action is about, and what would become of each: the dry run."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import msgspec

from accounts.callers import Caller
from accounts.errors import Conflict, DomainError, Forbidden, NotFound
from boards import access
from boards.models import Card
from boards.shapes import card_key
from supervision.bulk.rules import Doing, facts_of, judge, refusal
from supervision.letters import LetterFilter, matching, oldest_first

MAX_CARDS = 10_000
MAX_SHOWN_CARDS, MAX_SHOWN_REASONS = 20, 50
# Processor time that input schemas may take, of all cards of a dry run together.
JUDGE_SECONDS = 10.0
_BATCH = 500


@dataclass(frozen=True)
class Selection:
    """These cards, or all dead letters that match (the oldest 10,000)."""

    card_ids: Sequence[UUID] | None = None
    wanted: LetterFilter | None = None


class PlannedCard(msgspec.Struct, frozen=True):
    id: UUID
    key: str
    title: str


class Reason(msgspec.Struct, frozen=True):
    """Why so many cards are refused; `cards` are the first of them, 20 at most."""

    code: str
    detail: str
    count: int
    cards: list[PlannedCard]


class Plan(msgspec.Struct, frozen=True):
    """What would happen now. `unchecked` cards took too long to hold against their
    input schema and are judged when it's their turn; `beyond` match as well, but are
    more than one action takes."""

    verb: str
    total: int
    will: int
    refused: int
    unchecked: int
    beyond: int
    reasons: list[Reason]


@dataclass(frozen=True)
class Verdict:
    """`error` None: it will be done."""

    card: Card
    error: DomainError | None
    is_known: bool = True


def chosen(caller: Caller, selection: Selection) -> tuple[list[UUID], int]:
    """The cards' ids in the order in which they'll have their turn, and how many are
    left out. Raises NotFound (a card or board that isn't the caller's to see)."""
    if selection.card_ids is not None:
        ids = list(dict.fromkeys(selection.card_ids))
        _check_seen(caller, ids)
        return ids, 0
    rows = oldest_first(matching(caller, selection.wanted or LetterFilter()))
    found = list(rows.values_list("pk", flat=True))
    return found[:MAX_CARDS], max(0, len(found) - MAX_CARDS)


def plan(
    caller: Caller, doing: Doing, ids: Sequence[UUID], *, beyond: int = 0
) -> tuple[Plan, list[Verdict]]:
    """Changes nothing. Raises Forbidden where the caller may do it to none of them."""
    verdicts = verdicts_of(caller, doing, ids)
    refused = [one for one in verdicts if one.error]
    forbidden = [one for one in refused if isinstance(one.error, Forbidden)]
    if forbidden and len(forbidden) == len(verdicts):
        assert forbidden[0].error
        raise forbidden[0].error
    unchecked = sum(1 for one in verdicts if not one.is_known and not one.error)
    return Plan(
        verb=doing.verb,
        total=len(ids),
        will=len(verdicts) - len(refused) - unchecked,
        refused=len(refused),
        unchecked=unchecked,
        beyond=beyond,
        reasons=_reasons(caller, refused),
    ), verdicts


def verdicts_of(caller: Caller, doing: Doing, ids: Sequence[UUID]) -> list[Verdict]:
    """For each card, by the rules of the run itself."""
    found: list[Verdict] = []
    left = JUDGE_SECONDS
    for start in range(0, len(ids), _BATCH):
        rows = Card.objects.in_bulk(ids[start : start + _BATCH])
        cards = [rows[one] for one in ids[start : start + _BATCH] if one in rows]
        facts, left = judge(facts_of(doing, cards), cards, seconds=left)
        found += [
            Verdict(card, refusal(caller, doing, card, facts), facts.is_known(card))
            for card in cards
        ]
    return found


def check_target(caller: Caller, doing: Doing) -> None:
    """Raises NotFound for a column that isn't there, Conflict where none is named."""
    if doing.verb != "move":
        return
    if doing.column_id is None:
        raise Conflict("Say where to: column_id.")
    target = facts_of(doing, []).target
    if target is None or not access.can_see(caller, target.board_id):
        raise NotFound("There is no such column here.")


def _check_seen(caller: Caller, ids: Sequence[UUID]) -> None:
    rows = Card.objects.filter(pk__in=ids, workspace_id=caller.workspace_id)
    boards = dict(rows.values_list("pk", "board_id"))
    seen = {board for board in set(boards.values()) if access.can_see(caller, board)}
    for one in ids:
        if boards.get(one) not in seen:
            raise NotFound("There is no such card here.", card_id=one)


def _reasons(caller: Caller, refused: Sequence[Verdict]) -> list[Reason]:
    """The most frequent first."""
    together: dict[tuple[str, str], list[Card]] = {}
    for one in refused:
        assert one.error
        together.setdefault((one.error.code, one.error.detail), []).append(one.card)
    ordered = sorted(together.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [
        Reason(
            code,
            detail,
            len(cards),
            [_shown(caller, card) for card in cards[:MAX_SHOWN_CARDS]],
        )
        for (code, detail), cards in ordered[:MAX_SHOWN_REASONS]
    ]


def _shown(caller: Caller, card: Card) -> PlannedCard:
    key = card_key(caller.workspace_key, card.number)
    return PlannedCard(card.pk, key, card.title)
