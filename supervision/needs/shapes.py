"""What needs somebody, as every door tells it."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from accounts.shapes import ActorRef
from boards.shapes import CardBrief

# Most urgent first; `ENDPOINT_OFF` is what an app on top brings (novum.parts).
DEAD_LETTER = "dead_letter"
LAPSED = "lapsed"
UNATTENDED = "unattended"
ENDPOINT_OFF = "endpoint_off"
SLOW = "slow"
LAPSING = "lapsing"
MISFIT = "misfit"
REVIEW = "review"
ASSIGNED = "assigned"
REASONS = (
    LAPSED,
    DEAD_LETTER,
    UNATTENDED,
    ENDPOINT_OFF,
    SLOW,
    LAPSING,
    MISFIT,
    REVIEW,
    ASSIGNED,
)
MOST_PER_REASON = 50


class NeedAction(msgspec.Struct, frozen=True):
    """What may settle it: an operation with its values, for whoever may call it."""

    operation: str
    label: str
    values: dict[str, Any]


class Need(msgspec.Struct, frozen=True):
    """One thing that needs somebody, for one reason: `what` happened, in a sentence,
    `since` when. `link` is its page, `actions` are the likely ones that the caller's
    role allows."""

    reason: str
    what: str
    since: datetime
    link: str
    priority: int = 3
    board_id: UUID | None = None
    board: str = ""
    column_id: UUID | None = None
    column: str = ""
    card: CardBrief | None = None
    lease_id: UUID | None = None
    holder: ActorRef | None = None
    actions: list[NeedAction] = []


class Needs(msgspec.Struct, frozen=True):
    """Most urgent first, at most 50 of each reason; `counts` count them all."""

    items: list[Need]
    counts: dict[str, int]
    total: int
    server_time: datetime
