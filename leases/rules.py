"""Why a card can't be claimed: every rule that keeps it back, in words.

Pure: what there is to know is handed in, so that a verb judges by it under its locks
and a page without any.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from accounts.callers import Caller
from accounts.shapes import ActorRef, actor_ref
from boards.models import Board, Card, Column
from leases.models import Contract, Lease


class Rule(msgspec.Struct, frozen=True, omit_defaults=True):
    """One reason. `code` is archived, not_a_queue, ended, held, lapsed, exhausted,
    waiting, misfit, assigned, skills, paused or at_capacity; the other fields
    say by whom, until when, what doesn't fit, or which skills it takes."""

    code: str
    detail: str
    by: ActorRef | None = None
    until: datetime | None = None
    problems: Any = None
    skills: list[str] = []


@dataclass(frozen=True)
class Facts:
    """What the rules look at. `lease` is the one in force; `is_full`: no place is free
    under the queue's limit; `able`: how many seats have the skills it asks for."""

    card: Card
    column: Column
    board: Board
    contract: Contract | None
    lease: Lease | None
    is_full: bool
    now: datetime
    able: int | None = None


def rules(facts: Facts) -> list[Rule]:
    """All that keep the card from whoever asks next; none when it's claimable. What
    never passes by itself comes first."""
    found = [_archived(facts), _ended(facts) or _no_queue(facts), _held(facts)]
    if facts.card.state == Card.State.OPEN:
        found += [
            _exhausted(facts),
            _waiting(facts),
            _misfit(facts),
            _assigned(facts),
            _skills(facts),
            _paused(facts),
            _at_capacity(facts),
        ]
    return [rule for rule in found if rule is not None]


def against(caller: Caller, facts: Facts) -> list[Rule]:
    """Those that keep it from this caller, who asks for this very card. People know
    themselves whether they have the skills."""
    passed = {"lapsed"}
    if facts.card.assignee_id == caller.actor_id:
        passed.add("assigned")
    if caller.kind == "person" or caller.skills.issuperset(facts.card.skills):
        passed.add("skills")
    return [rule for rule in rules(facts) if rule.code not in passed]


def _archived(facts: Facts) -> Rule | None:
    for what, row in (
        ("card", facts.card),
        ("column", facts.column),
        ("board", facts.board),
    ):
        if row.archived_at is not None:
            return Rule("archived", f"The {what} is archived.")
    return None


def _no_queue(facts: Facts) -> Rule | None:
    if facts.contract is not None and facts.contract.enabled:
        return None
    return Rule("not_a_queue", "Its column is no queue: the contract isn't enabled.")


def _ended(facts: Facts) -> Rule | None:
    card = facts.card
    if card.cancelled_at is not None:
        return Rule("ended", "It was cancelled. Requeue it for another round.")
    if card.state in (Card.State.DONE, Card.State.FAILED):
        return Rule("ended", f"It's {card.state}. Requeue it for another round.")
    return None


def _held(facts: Facts) -> Rule | None:
    lease = facts.lease
    if lease is None:
        return None
    holder = actor_ref(lease.holder)
    by = f"@{holder.handle}" if holder else "Somebody"
    if lease.expires_at is None:
        return Rule("held", f"{by} is working on it, without a time limit.", by=holder)
    if lease.expires_at <= facts.now:
        detail = f"{by} let the lease run out; the next claim takes it over."
        return Rule("lapsed", detail, by=holder, until=lease.expires_at)
    detail = f"{by} is working on it."
    return Rule("held", detail, by=holder, until=lease.expires_at)


def _exhausted(facts: Facts) -> Rule | None:
    contract = facts.contract
    if contract is None or facts.card.attempts < contract.max_attempts:
        return None
    return Rule("exhausted", "No attempt is left: the next claim finds it failed.")


def _waiting(facts: Facts) -> Rule | None:
    until = facts.card.available_at
    if until is None or until <= facts.now:
        return None
    return Rule("waiting", "It waits for its time.", until=until)


def _misfit(facts: Facts) -> Rule | None:
    if facts.card.fits is not False:
        return None
    detail = "It doesn't fit the queue's input schema."
    return Rule("misfit", detail, problems=facts.card.misfit)


def _assigned(facts: Facts) -> Rule | None:
    assignee = actor_ref(facts.card.assignee)
    if assignee is None:
        return None
    return Rule("assigned", f"It's kept for @{assignee.handle}.", by=assignee)


def _skills(facts: Facts) -> Rule | None:
    skills = facts.card.skills
    if not skills:
        return None
    named = ", ".join(skills)
    nobody = " No agent here has them all." if facts.able == 0 else ""
    detail = f"Only for agents with: {named}.{nobody}"
    return Rule("skills", detail, skills=skills)


def _paused(facts: Facts) -> Rule | None:
    contract = facts.contract
    if contract is None or not contract.paused:
        return None
    why = f": {contract.pause_reason}" if contract.pause_reason else "."
    return Rule("paused", f"The queue is paused{why}")


def _at_capacity(facts: Facts) -> Rule | None:
    if not facts.is_full or facts.contract is None:
        return None
    limit = facts.contract.concurrency_limit
    return Rule("at_capacity", f"All {limit} places of the queue are taken.")
