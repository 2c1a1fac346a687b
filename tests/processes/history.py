"""What all workers saw, held against what the database holds.

The checker knows nothing of how the product works: it looks at intervals, counts and
acknowledgements, in the way Jepsen checks a queue. Cut-off calls are `info`: they may
have worked or not.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from boards.models import Card, Event
from leases.models import Lease

COMPLETED = "card.lease.completed"
DEADLETTERED = "card.lease.deadlettered"


@dataclass(frozen=True)
class Record:
    by: str
    at: float
    kind: str
    outcome: str
    facts: dict[str, Any]


def read_history(folder: Path) -> list[Record]:
    """Everything that was written down, a last line cut off by a kill left out."""
    records = []
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            try:
                facts = json.loads(line)
            except ValueError:
                continue
            records.append(
                Record(
                    facts.pop("by"),
                    facts.pop("at"),
                    facts.pop("kind"),
                    facts.pop("outcome", ""),
                    facts,
                )
            )
    return sorted(records, key=lambda record: record.at)


@dataclass(frozen=True)
class Story:
    """One card with everything that happened to it."""

    card: Card
    leases: list[Lease]
    events: list[Event]

    def __str__(self) -> str:
        lines = [f"card {self.card.pk}: {self.card.state!r} v{self.card.version}"]
        for lease in self.leases:
            lines.append(
                f"  lease {lease.pk} #{lease.attempt} {lease.state}"
                f" {lease.acquired_at:%X.%f} … {lease.expires_at:%X.%f}"
                f" ended {lease.ended_at}"
            )
        lines += [f"  event {event.sequence} {event.type}" for event in self.events]
        return "\n".join(lines)


def stories(cards: Iterable[UUID]) -> list[Story]:
    leases, events = defaultdict(list), defaultdict(list)
    for lease in Lease.objects.filter(card_id__in=cards).order_by("acquired_at"):
        leases[lease.card_id].append(lease)
    for event in Event.objects.filter(card_id__in=cards).order_by("sequence"):
        events[event.card_id].append(event)
    return [
        Story(card, leases[card.pk], events[card.pk])
        for card in Card.objects.filter(pk__in=cards)
    ]


def check(cards: Iterable[UUID], history: Iterable[Record], max_attempts: int) -> None:
    """Everything that must be true of a queue that has been drained."""
    cards = list(cards)
    told = stories(cards)
    assert len(told) == len(cards), "cards are lost"
    for story in told:
        _check_card(story, max_attempts)
    _check_replies(told, list(history))


def _check_card(story: Story, max_attempts: int) -> None:
    assert story.card.state in ("done", "failed"), story
    assert [event.sequence for event in story.events] == [
        number + 1 for number in range(len(story.events))
    ], story
    _check_intervals(story)
    counted = [one for one in story.leases if one.state not in ("released", "revoked")]
    assert story.card.attempts == len(counted) <= max_attempts, story
    kinds = Counter(event.type for event in story.events)
    finished = [one for one in story.leases if one.state == "completed"]
    is_done = story.card.state == "done"
    assert len(finished) == kinds[COMPLETED] == int(is_done), story
    assert kinds[DEADLETTERED] == int(not is_done), story
    assert kinds["card.lease.claimed"] == len(story.leases), story
    if is_done:
        assert story.card.output == finished[0].output, story


def _check_intervals(story: Story) -> None:
    """No two leases of a card overlap, none outlives its time, none is open."""
    end: datetime | None = None
    for lease in story.leases:
        assert lease.ended_at, story
        assert end is None or lease.acquired_at >= end, story
        if lease.state in ("completed", "failed"):
            assert lease.ended_at <= lease.expires_at, story
        end = min(lease.ended_at, lease.expires_at)


def _check_replies(told: list[Story], history: list[Record]) -> None:
    """What was acknowledged is there; what is there was attempted; each receipt is of
    one lease, and no lease was given to two workers."""
    done = {
        str(lease.pk): lease
        for story in told
        for lease in story.leases
        if lease.state == "completed"
    }
    acknowledged, attempted = set(), set()
    for record in history:
        if record.kind == "finishing" and record.facts["verb"] == "complete":
            attempted.add(record.facts["lease"])
        if record.kind == "complete" and record.outcome == "ok":
            acknowledged.add(record.facts["lease"])
            assert done[record.facts["lease"]].output["by"] == record.by
    assert acknowledged - done.keys() == set(), "lost"
    assert done.keys() - attempted == set(), "unexpected"
    _check_claims(told, history)


def _check_claims(told: list[Story], history: list[Record]) -> None:
    leases = {str(lease.pk): lease for story in told for lease in story.leases}
    holders, receipts = defaultdict(set), defaultdict(set)
    for record in history:
        if record.kind == "claim" and record.outcome == "ok":
            lease = leases[record.facts["lease"]]
            assert record.facts["attempt"] == lease.attempt
            holders[record.facts["lease"]].add(record.by)
            receipts[record.facts["receipt"]].add(record.facts["lease"])
    assert all(len(names) == 1 for names in holders.values()), holders
    assert all(len(ids) == 1 for ids in receipts.values()), receipts


def most_at_once(leases: Iterable[Lease]) -> int:
    """The largest number of leases in force at one moment, from their own times."""
    moments: list[tuple[datetime, int]] = []
    for lease in leases:
        moments.append((lease.acquired_at, 1))
        moments.append((lease.ended_at, -1))
    most = now = 0
    for _, change in sorted(moments):
        now += change
        most = max(most, now)
    return most
