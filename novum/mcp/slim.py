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

# The content of a card is the agents' own: it comes through as it is, unless null.
_CONTENT = frozenset({"properties", "payload", "output"})
_ONLY_IF_TRUE = frozenset({"replayed"})
_LEASE_OF_CLAIM = ("id", "attempt", "expires_at")
_IN_A_LIST = {
    CardShape: (
        *("id", "key", "title", "board_id", "column_id", "state", "priority"),
        *("labels", "assignee", "holder", "due", "available_at", "attempts", "version"),
    ),
}
# By the field that it stands in.
_KEPT: dict[tuple[type, str], tuple[str, ...]] = {
    (Claimed, "lease"): _LEASE_OF_CLAIM,
    (Claim, "lease"): _LEASE_OF_CLAIM,
    (Ended, "lease"): ("state", "outcome", "next_due"),
    (Ended, "card"): ("key", "column_id", "state"),
    (CardList, "cards"): ("id", "key"),
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
}


def slimmed(value: Any, kept: tuple[str, ...] | None = None) -> Any:
    """The shape as plain values, cut down; lists item by item."""
    if isinstance(value, list):
        return [slimmed(each, kept) for each in value]
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
            each = slimmed(each, _kept(kind, name, each))
            if _is_empty(each) or (not each and name in _ONLY_IF_TRUE):
                continue
        slim[name] = each
    return slim


def _kept(kind: type, name: str, value: Any) -> tuple[str, ...] | None:
    if kind is Page and value:
        return _IN_A_LIST.get(type(value[0]))
    return _KEPT.get((kind, name))


def _is_empty(value: Any) -> bool:
    """False and 0 say something."""
    return isinstance(value, (str, list, dict)) and not value
