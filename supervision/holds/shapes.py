"""Leases over all boards, and what became of many that were revoked at once."""

from datetime import datetime
from uuid import UUID

import msgspec

from leases.shapes import LeaseShape, Refused


class TokenRef(msgspec.Struct, frozen=True):
    """The worker's token, without anything secret."""

    id: UUID
    name: str


class LeaseSeen(LeaseShape, frozen=True, kw_only=True):
    """A lease with what it's on. `stuck` says why it counts as stuck: lapsed (run out,
    not taken over), silent (nearly run out, not heard of for ten minutes) or slow
    (three times as long as 95 % take there)."""

    card_key: str
    card_title: str
    board: str
    column: str
    token: TokenRef | None
    stuck: str | None = None


class HolderCount(msgspec.Struct, frozen=True):
    handle: str
    name: str
    leases: int


class RevokedItem(msgspec.Struct, frozen=True):
    """`error` null: it has ended (or, in a dry run, would end)."""

    lease_id: UUID
    card_key: str | None
    holder: str | None
    error: Refused | None = None


class RevokedMany(msgspec.Struct, frozen=True):
    """`matched` is how many active leases there were to revoke, `left` how many of them
    are for a further call. In a dry run `revoked` is how many would be. `as_of` given
    back as `claimed_before` leaves out what is claimed after this look."""

    dry_run: bool
    matched: int
    revoked: int
    refused: int
    left: int
    holders: list[HolderCount]
    results: list[RevokedItem]
    as_of: datetime
