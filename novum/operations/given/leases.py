"""What the loop's operations take."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta

from accounts.skills import Skills
from accounts.told import told
from boards.values import MAX_DOING_CHARACTERS
from boards.verbs.fields import MAX_LABEL_CHARACTERS, MAX_LABELS
from leases.contract import (
    MAX_BACKOFF_SECONDS,
    MAX_CLAIM_COUNT,
    MAX_LEASE_SECONDS,
    MIN_LEASE_SECONDS,
)
from leases.verbs.complete import Result
from leases.verbs.holding import MAX_LEASES_PER_CALL
from leases.verbs.reasons import MAX_REASON_CHARACTERS
from novum.operations.columns import ColumnInput
from novum.operations.operation import (
    Input,
    PageInput,
    WaitSeconds,
)

LeaseSeconds = Annotated[
    int,
    Meta(
        ge=MIN_LEASE_SECONDS,
        le=MAX_LEASE_SECONDS,
        description="Instead of the contract's lease_ttl_seconds.",
    ),
]
LeaseToken = Annotated[
    str, Meta(description="The receipt that the claim answered with.")
]
WantedLabels = Annotated[
    list[Annotated[str, Meta(max_length=MAX_LABEL_CHARACTERS)]],
    Meta(max_length=MAX_LABELS),
]
Reason = Annotated[str, told(maxLength=MAX_REASON_CHARACTERS)]
Doing = Annotated[
    str,
    Meta(
        max_length=MAX_DOING_CHARACTERS,
        description="One line of progress, shown on the card; empty takes it back.",
    ),
]


class ClaimNextCard(ColumnInput, frozen=True):
    """`count` asks for several cards and makes the answer `claims`, a list; `card_id`
    for this one and no other, as claim_card does, which is answered at once."""

    count: Annotated[int, Meta(ge=1, le=MAX_CLAIM_COUNT)] | None = None
    lease_ttl_seconds: LeaseSeconds | None = None
    card_id: UUID | None = None
    labels: Annotated[
        WantedLabels, Meta(description="Only cards with all of these.")
    ] = []
    skills: Annotated[
        Skills, Meta(description="Only cards that ask for all of these.")
    ] = []
    wait_seconds: WaitSeconds = 0


class ClaimCard(Input, frozen=True):
    """People who leave `lease_ttl_seconds` out hold the card until they end it."""

    card_id: UUID
    lease_ttl_seconds: LeaseSeconds | None = None


class LeaseInput(Input, frozen=True):
    lease_id: UUID


class Held(LeaseInput, frozen=True):
    lease_token: LeaseToken


class RenewLease(Held, frozen=True):
    lease_ttl_seconds: LeaseSeconds | None = None
    doing: Doing | None = None


class SetLeaseActivity(Held, frozen=True):
    doing: Doing


class CompleteLease(Held, frozen=True):
    """`properties` are merged into the card's; `claim_next` claims the next card of
    the same column in the same call."""

    output: Any = None
    properties: dict[str, Any] | None = None
    claim_next: bool = False


class FailLease(Held, frozen=True):
    """`kind`: retry (with attempts left, behind the backoff), wait_until (a quota: the
    attempt isn't counted, 20 times or six hours at most) or fatal (dead-letter now)."""

    kind: Literal["retry", "wait_until", "fatal"] | None = None
    until: (
        Annotated[
            datetime, Meta(tz=True, description="Of a wait_until, instead of seconds.")
        ]
        | None
    ) = None
    reason: Reason = ""
    requeue: Annotated[bool, Meta(description="False is the same as kind fatal.")] = (
        True
    )
    retry_after_seconds: (
        Annotated[
            float,
            Meta(ge=0, le=MAX_BACKOFF_SECONDS, description="Instead of the backoff."),
        ]
        | None
    ) = None


class ReleaseLease(Held, frozen=True):
    note: Annotated[Reason, Meta(description="For the next holder.")] = ""


class RevokeLease(LeaseInput, frozen=True):
    reason: Reason = ""


class Receipt(Input, frozen=True):
    lease_id: UUID
    lease_token: LeaseToken
    doing: Doing | None = None


class RenewLeases(Input, frozen=True):
    leases: Annotated[list[Receipt], Meta(min_length=1, max_length=MAX_LEASES_PER_CALL)]


class CompleteLeases(Input, frozen=True):
    leases: Annotated[list[Result], Meta(min_length=1, max_length=MAX_LEASES_PER_CALL)]


class ListLeases(PageInput, frozen=True):
    """`expired` is the stuck queue: lapsed and not yet taken over, or ended so."""

    board_id: UUID
    state: Literal["active", "expired", "all"] = "active"
    column_id: UUID | None = None
    card_id: UUID | None = None
