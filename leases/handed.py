"""What this process gave out, and by which terms: for a result that comes back to it no
look at the lease is needed before the statement that stores it.

These are hopes. What never changes about a lease is all that is kept of one, and the
statement asks again, behind its locks, for what may: whatever isn't as it was thought,
it changes nothing, and the verb looks after all. So nothing here is ever refused.
"""

from typing import Any
from uuid import UUID

import msgspec

# Half a kilobyte each.
MOST_KEPT = 5_000


class Handed(msgspec.Struct, frozen=True):
    """A lease, as it is for good."""

    lease_id: UUID
    workspace_id: UUID
    board_id: UUID
    column_id: UUID
    card_id: UUID
    receipt: str


class Terms(msgspec.Struct, frozen=True):
    """The contract of a column at one of its versions."""

    version: int
    output_schema: Any


_handed: dict[UUID, Handed] = {}
_terms: dict[UUID, Terms] = {}


def note(row: Any, receipt: str) -> None:
    """A card was taken: a row of the claim, and what its holder was given for it."""
    if len(_handed) >= MOST_KEPT:
        _handed.clear()
    _handed[row.lease_id] = Handed(
        row.lease_id, row.workspace_id, row.board_id, row.column_id, row.id, receipt
    )


def note_terms(row: Any) -> None:
    """What the look at a lease found."""
    if row.contract_version is None:
        return
    known = _terms.get(row.column_id)
    if known and known.version == row.contract_version:
        return
    if len(_terms) >= MOST_KEPT:
        _terms.clear()
    schema = row.output_schema and msgspec.json.decode(row.output_schema)
    _terms[row.column_id] = Terms(row.contract_version, schema)


def find(lease_id: UUID) -> tuple[Handed, Terms] | None:
    """Both, once the column's terms are known."""
    handed = _handed.get(lease_id)
    terms = handed and _terms.get(handed.column_id)
    return (handed, terms) if handed and terms else None


def forget(lease_id: UUID) -> None:
    _handed.pop(lease_id, None)
