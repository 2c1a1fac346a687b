"""Answers cut to what an agent needs.

A model pays for every character it reads, at every turn. So an answer leaves out what
is null or empty, what the agent has said itself in the call, and what only a page or a
log wants; `verbose: true` gives it all. A new field of a shape is shown unless it's
listed here.
"""

from typing import Any

import msgspec

from accounts.pages import Page
from accounts.shapes import ActorRef
from boards.shapes import CardBrief, CardShape, EventShape
from leases.shapes import Claim, Claimed, ClaimedCard, Ended, LeaseShape
from novum.operations.cards import CardList
from tasks_people.shapes import ClaimedTask, StartedTask, TaskLease, TaskShape

# The content of a card is the agents' own: it comes through as it is, unless null.
_CONTENT = frozenset({"properties", "payload", "output", "result"})
_ONLY_IF_TRUE = frozenset({"replayed"})
_LEASE_OF_CLAIM = ("id", "attempt", "expires_at")
_TASK_OF_CLAIM = (
    *("id", "key", "title", "description", "queue", "priority", "payload", "labels"),
    *("created_by", "parent", "due", "attempts", "lease", "error"),
)
# Without its contents: in a list, and in the answer to a change, because whoever made
# the change has sent them or can read them.
_BRIEF: dict[type, tuple[str, ...]] = {
    CardShape: (
        *("id", "key", "title", "board_id", "column_id", "state", "priority"),
        *("labels", "assignee", "holder", "due", "available_at", "attempts", "version"),
    ),
    TaskShape: (
        *("id", "key", "title", "queue", "state", "priority", "labels", "assignee"),
        *("due", "not_before", "attempts", "lease", "error", "cancelled_at"),
    ),
}
# By the field that it stands in.
_KEPT: dict[tuple[type, str], tuple[str, ...]] = {
    (Claimed, "lease"): _LEASE_OF_CLAIM,
    (Claim, "lease"): _LEASE_OF_CLAIM,
    (Ended, "lease"): ("state", "outcome", "next_due"),
    (Ended, "card"): ("key", "column_id", "state"),
    (CardList, "cards"): ("id", "key"),
    (ClaimedTask, "task"): _TASK_OF_CLAIM,
    (StartedTask, "task"): _TASK_OF_CLAIM,
}
_LEFT_OUT: dict[type, frozenset[str]] = {
    ActorRef: frozenset({"id", "name"}),
    CardShape: frozenset({"created_at", "archived_at", "lease_id", "misfit"}),
    CardBrief: frozenset({"board_id"}),
    ClaimedCard: frozenset(
        {
            *("board_id", "column_id", "state", "available_at", "fits", "misfit"),
            *("attempts", "holder", "lease_id", "version", "created_by"),
            *("created_at", "updated_at", "archived_at"),
        }
    ),
    Ended: frozenset({"server_time"}),
    EventShape: frozenset({"id"}),
    LeaseShape: frozenset({"board_id", "renewals", "renewed_at", "seconds"}),
    TaskLease: frozenset({"id", "claimed_at"}),
    TaskShape: frozenset({"board_id", "created_at", "version"}),
}


def slimmed(value: Any, *, brief: bool) -> Any:
    """An answer as plain values, cut down. `brief`: it's the answer to a change."""
    return _slimmed(value, _BRIEF.get(type(value)) if brief else None, brief)


def _slimmed(value: Any, kept: tuple[str, ...] | None, brief: bool) -> Any:
    if isinstance(value, list):
        return [_slimmed(each, kept, brief) for each in value]
    if not isinstance(value, msgspec.Struct):
        return value
    kind = type(value)
    left_out = _LEFT_OUT.get(kind, frozenset())
    slim = {}
    for name in kept or kind.__struct_fields__:
        each = getattr(value, name)
        if each is None or each is msgspec.UNSET or (not kept and name in left_out):
            continue
        if name not in _CONTENT:
            each = _slimmed(each, _kept(kind, name, each, brief), brief)
            if _is_empty(each) or (not each and name in _ONLY_IF_TRUE):
                continue
        slim[name] = each
    return slim


def _kept(kind: type, name: str, value: Any, brief: bool) -> tuple[str, ...] | None:
    if kind is Page and name == "items" and value:
        return _BRIEF.get(type(value[0]))
    known = _KEPT.get((kind, name))
    return _BRIEF.get(type(value)) if brief and known is None else known


def _is_empty(value: Any) -> bool:
    """False and 0 say something."""
    return isinstance(value, (str, list, dict)) and not value
