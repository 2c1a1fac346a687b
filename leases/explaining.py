"""Why is nobody taking this? The rules that keep a card back, or its place in line."""

from datetime import datetime, timedelta
from uuid import UUID

import msgspec
from django.db.models import Q

from accounts.callers import Caller
from accounts.errors import NotFound
from accounts.models import Actor, WorkerToken
from boards import access
from boards.models import READY, Card
from boards.shapes import CardBrief, card_brief
from leases.asking import last_asked
from leases.models import Contract, Lease
from leases.reads import server_time
from leases.rules import Facts, Rule, rules
from leases.verbs.judge import problems_of

# So long ago that nobody seems to work there.
NOBODY_ASKS = timedelta(minutes=10)
MAX_PLACE = 1_000
# They keep a card from some, but not from everybody who may ask.
_FOR_SOME = {"lapsed", "assigned", "skills"}


class Explained(msgspec.Struct, frozen=True):
    """`claimable`: somebody who asks now can get it, at `place` in line (1 is next;
    1,001 stands for any further). `rules` keep it back, from all or, when it's claimable
    all the same, from some. `summary` says it in one sentence."""

    card: CardBrief
    claimable: bool
    summary: str
    rules: list[Rule]
    place: int | None
    last_asked_at: datetime | None
    server_time: datetime


def explain(caller: Caller, *, card_id: UUID) -> Explained:
    """Always a handful of queries. Raises NotFound."""
    return explained(caller, facts_of(caller, card_id=card_id))


def explained(caller: Caller, facts: Facts) -> Explained:
    """The same of facts that are there already."""
    found = rules(facts)
    hopeless = [rule for rule in found if rule.code not in _FOR_SOME]
    if facts.able == 0:
        hopeless += [rule for rule in found if rule.code == "skills"]
    claimable = not hopeless and facts.card.state != Card.State.NONE
    place = _place(facts.card) if claimable else None
    asked = last_asked(facts.card.column_id)
    return Explained(
        card=card_brief(facts.card, caller.workspace_key),
        claimable=claimable,
        summary=_summary(hopeless or found, place, asked, facts.now),
        rules=found,
        place=place,
        last_asked_at=asked,
        server_time=facts.now,
    )


def facts_of(caller: Caller, *, card_id: UUID, judges: bool = True) -> Facts:
    """Without `judges` no schema is at work: for who holds locks. Raises NotFound."""
    card = (
        Card.objects.select_related("assignee", "column__board")
        .filter(pk=card_id, workspace_id=caller.workspace_id)
        .first()
    )
    if card is None or not access.can_see(caller, card.board_id):
        raise NotFound("There is no such card here.")
    contract = Contract.objects.filter(pk=card.column_id).first()
    if judges and card.fits is None and contract is not None:
        # Only here in memory: to write it down is the next claim's.
        problems = problems_of(contract.input_schema, card)
        card.fits, card.misfit = not problems, msgspec.to_builtins(problems)
    lease = None
    if card.lease_id:
        lease = Lease.objects.select_related("holder").get(pk=card.lease_id)
    return Facts(
        card=card,
        column=card.column,
        board=card.column.board,
        contract=contract,
        lease=lease,
        is_full=contract is not None and is_full(contract),
        now=server_time(),
        able=_able(caller, card) if card.skills else None,
    )


def is_full(contract: Contract) -> bool:
    """Every place of the queue is taken, also by leases that nobody has tidied away."""
    limit = contract.concurrency_limit
    if limit is None:
        return False
    live = Lease.objects.filter(column_id=contract.column_id, ended_at=None)
    return live.count() >= limit


def _able(caller: Caller, card: Card) -> int:
    """How many seats have all the skills, by themselves or with one of their tokens."""
    seats = dict(
        Actor.objects.in_workspace(caller.workspace_id)
        .enabled()
        .agents()
        .values_list("pk", "skills")
    )
    tokens = WorkerToken.objects.filter(
        actor__in=seats, revoked_at=None, workspace_id=caller.workspace_id
    ).exclude(skills=[])
    wanted = set(card.skills)
    able = {pk for pk, skills in seats.items() if wanted <= set(skills)}
    for pk, skills in tokens.values_list("actor_id", "skills"):
        if wanted <= {*skills, *seats[pk]}:
            able.add(pk)
    return len(able)


def _place(card: Card) -> int:
    """Among those ready for anyone; one that's kept for somebody has only its own."""
    before = Q(priority__lt=card.priority) | Q(priority=card.priority) & (
        Q(position__lt=card.position) | Q(position=card.position, id__lt=card.pk)
    )
    ahead = Card.objects.present().filter(
        READY, before, column_id=card.column_id, assignee_id=card.assignee_id
    )
    return ahead.order_by()[:MAX_PLACE].count() + 1


def _summary(
    found: list[Rule], place: int | None, asked: datetime | None, now: datetime
) -> str:
    if place is None:
        return " ".join(rule.detail for rule in found) or "It's in no queue."
    said = " ".join(rule.detail for rule in found)
    if asked is None or now - asked > NOBODY_ASKS:
        line = "No worker has asked this queue for ten minutes."
    elif place == 1:
        line = "It's next in line."
    else:
        line = f"{min(place - 1, MAX_PLACE)} cards are before it in line."
    return f"{said} {line}".strip()
