"""The types of events that endpoints can ask for, in words.

A pattern is a type, a prefix with `.*`, or `*` for everything.
"""

import re
from dataclasses import dataclass

from boards import events

ALL = "*"
TEST = "webhook.test"
_PATTERN = re.compile(r"[a-z_]+(\.[a-z_]+)*(\.\*)?\Z")
MAX_PATTERN_CHARACTERS = 60


@dataclass(frozen=True)
class Kind:
    """`has` says what stands in `data` besides board and actor."""

    type: str
    summary: str
    has: tuple[str, ...]


_CARD = ("card", "column")
_LEASE = ("card", "column", "lease")
_COLUMN = ("column",)

KINDS = (
    Kind(events.LEASE_CLAIMED, "A card was claimed: a lease has begun.", _LEASE),
    Kind(events.LEASE_COMPLETED, "A lease ended with a result.", _LEASE),
    Kind(
        events.LEASE_FAILED,
        "The holder gave up; `lease.outcome` says what then.",
        _LEASE,
    ),
    Kind(events.LEASE_EXPIRED, "The holder was not heard of any more.", _LEASE),
    Kind(events.LEASE_DEADLETTERED, "A card has no attempts left.", _LEASE),
    Kind(events.LEASE_RELEASED, "The holder gave the card back.", _LEASE),
    Kind(events.LEASE_REVOKED, "A person took the card away from its holder.", _LEASE),
    Kind(events.CARD_CREATED, "There is a new card.", _CARD),
    Kind(events.CARD_UPDATED, "A card's fields changed: `changed` names them.", _CARD),
    Kind(events.CARD_MOVED, "A card is somewhere else.", _CARD),
    Kind(events.CARD_ARCHIVED, "A card was put away.", _CARD),
    Kind(events.CARD_RESTORED, "A card came back.", _CARD),
    Kind(events.CARD_COMMENTED, "Somebody said something about a card.", _CARD),
    Kind(events.CARD_REQUEUED, "A failed card may be tried again.", _CARD),
    Kind(events.CARD_CANCEL_REQUESTED, "The holder is asked to stop.", _CARD),
    Kind(events.CARD_CANCELLED, "A card is not to be worked on any more.", _CARD),
    Kind(events.CONTRACT_UPDATED, "A queue has other terms.", _COLUMN),
    Kind(events.COLUMN_PAUSED, "A queue gives out no cards for now.", _COLUMN),
    Kind(events.COLUMN_RESUMED, "A queue gives out cards again.", _COLUMN),
    Kind(events.COLUMN_CREATED, "There is a new column.", _COLUMN),
    Kind(events.COLUMN_UPDATED, "A column has another name or limit.", _COLUMN),
    Kind(events.COLUMN_MOVED, "A column stands somewhere else.", _COLUMN),
    Kind(events.COLUMN_DELETED, "A column is gone.", _COLUMN),
    Kind(events.BOARD_CREATED, "There is a new board.", ()),
    Kind(events.BOARD_UPDATED, "A board has another name or other members.", ()),
    Kind(events.BOARD_ARCHIVED, "A board was put away.", ()),
    Kind(events.BOARD_RESTORED, "A board came back.", ()),
    Kind(
        events.TASK_DONE,
        "A task came to its end: `details.status` is done, failed, declined or"
        " cancelled, with the `result` or the `error`. Once per end.",
        _CARD,
    ),
    Kind(TEST, "Sent by hand, to try an endpoint.", ()),
)
KNOWN = frozenset(kind.type for kind in KINDS)


def is_pattern(text: str) -> bool:
    """Whether some known type matches it."""
    if len(text) > MAX_PATTERN_CHARACTERS:
        return False
    if text == ALL or text in KNOWN:
        return True
    return bool(_PATTERN.match(text)) and any(matches(text, one) for one in KNOWN)


def matches(pattern: str, type: str) -> bool:
    if pattern.endswith("*"):
        return type.startswith(pattern[:-1])
    return type == pattern
