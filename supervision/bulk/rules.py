"""What may be done to a dead letter: the one place that a dry run and the run itself ask.

Facts are read for many cards at once, schemas are at work before anything is locked, and
what was judged counts only while card and contract are still the versions judged.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from uuid import UUID

import msgspec

from accounts.callers import Caller
from accounts.errors import DomainError, FieldError, NotFound
from accounts.roles import BoardRole
from boards import access
from boards.models import Card, Column
from boards.verbs.cards import put_away
from boards.verbs.moving import put_at_end
from leases.errors import DoesNotFit
from leases.models import Contract
from leases.verbs.judge import problems_of
from leases.verbs.requeue import Return, put_back, queues_of
from leases.verbs.requeue import check as check_requeue
from supervision.errors import NotADeadLetter


class Doing(msgspec.Struct, frozen=True):
    """`verb` is retry, move (into `column_id`) or discard (with a `reason`)."""

    verb: str
    column_id: UUID | None = None
    reason: str = ""


@dataclass(frozen=True)
class Judged:
    card_version: int
    contract_version: int
    problems: list[FieldError]


@dataclass(frozen=True)
class Facts:
    """What the rules look at beside the card: the queue it goes back to (by card), its
    contract (by column), the column it's moved to, and what the schemas said."""

    queues: Mapping[UUID, Column | None] = field(default_factory=dict)
    contracts: Mapping[UUID, Contract] = field(default_factory=dict)
    target: Column | None = None
    judged: Mapping[UUID, Judged] = field(default_factory=dict)

    def contract(self, card: Card) -> Contract | None:
        """The contract whose input schema the card must fit, if there is one."""
        queue = self.queues.get(card.pk)
        found = self.contracts.get(queue.pk) if queue else None
        return found if found and found.input_schema is not None else None

    def is_known(self, card: Card) -> bool:
        """Nothing that the schema would have to look at again."""
        contract = self.contract(card)
        if contract is None or not is_dead(card):
            return True
        said = self.judged.get(card.pk)
        return said is not None and (said.card_version, said.contract_version) == (
            card.version,
            contract.version,
        )


def facts_of(doing: Doing, cards: Iterable[Card]) -> Facts:
    """A handful of queries, however many cards; nothing judged yet."""
    if doing.verb == "discard":
        return Facts()
    if doing.verb == "move":
        assert doing.column_id is not None
        target = Column.objects.filter(pk=doing.column_id, archived_at=None)
        return Facts(target=target.first())
    wanted = queues_of(cards)
    queues = Column.objects.filter(is_queue=True, archived_at=None).in_bulk(
        set(wanted.values())
    )
    return Facts(
        queues={card: queues.get(column) for card, column in wanted.items()},
        contracts=Contract.objects.in_bulk(list(queues)),
    )


def judge(
    facts: Facts, cards: Iterable[Card], *, seconds: float
) -> tuple[Facts, float]:
    """The same, with what the input schemas say of these cards, and the seconds that
    are left; those that aren't reached in time are left out."""
    began = monotonic()
    judged: dict[UUID, Judged] = {}
    for card in cards:
        if monotonic() - began >= seconds:
            break
        contract = facts.contract(card)
        if contract is not None and is_dead(card):
            judged[card.pk] = judge_one(contract, card)
    return replace(facts, judged=judged), seconds - (monotonic() - began)


def judge_one(contract: Contract, card: Card) -> Judged:
    problems = [
        FieldError(one.pointer, one.code, one.detail)
        for one in problems_of(contract.input_schema, card)
    ]
    return Judged(card.version, contract.version, problems)


def is_dead(card: Card) -> bool:
    """As `boards.models.DEAD`, of a card that is here."""
    is_present = card.archived_at is None and card.cancelled_at is None
    return is_present and card.state == Card.State.FAILED


def refusal(
    caller: Caller, doing: Doing, card: Card, facts: Facts
) -> DomainError | None:
    """Why it can't be done to this card; None where it can."""
    try:
        check(caller, doing, card, facts)
    except DomainError as error:
        return error
    return None


def check(caller: Caller, doing: Doing, card: Card, facts: Facts) -> None:
    """Raises Forbidden, NotFound, BoardArchived, NotADeadLetter and what else the verb
    has against it."""
    access.require(caller, card.board_id, BoardRole.EDITOR)
    if not is_dead(card):
        raise NotADeadLetter(state=card.state or None)
    if doing.verb == "move":
        if facts.target is None or not access.can_see(caller, facts.target.board_id):
            raise NotFound("There is no such column here.")
        access.require(caller, facts.target.board_id, BoardRole.EDITOR)
    elif doing.verb == "retry":
        check_requeue(caller, card, facts.queues.get(card.pk))
        said = facts.judged.get(card.pk)
        if said and said.problems:
            raise DoesNotFit(_first(said.problems), said.problems)


def apply(caller: Caller, doing: Doing, cards: Sequence[Card], facts: Facts) -> None:
    """Do it to locked cards that `check` let pass, in their order."""
    if doing.verb == "retry":
        put_back(
            caller,
            [
                Return(card, queue, fits=card.pk in facts.judged)
                for card in cards
                if (queue := facts.queues[card.pk])
            ],
        )
    elif doing.verb == "move":
        assert facts.target is not None
        put_at_end(caller, cards, facts.target)
    else:
        put_away(caller, cards, reason=doing.reason)


def _first(problems: list[FieldError]) -> str:
    one = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"It doesn't fit the input schema: {one.pointer or '/'} {one.detail}{more}"
