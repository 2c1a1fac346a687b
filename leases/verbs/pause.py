"""Pause and resume a queue: the contract with one thing changed."""

from uuid import UUID

import msgspec
from django.db import transaction

from accounts.callers import Caller
from accounts.roles import BoardRole
from boards import access
from leases import reads
from leases.contract import MAX_PAUSE_CHARACTERS
from leases.shapes import ContractShape
from leases.statements.gate import shut
from leases.verbs.reasons import check_text
from leases.verbs.set_contract import Terms, set_contract


@transaction.atomic
def pause(
    caller: Caller, *, board_id: UUID, column_id: UUID, reason: str = ""
) -> ContractShape:
    """Offer no card of this queue to anybody until `resume`; whoever holds one goes
    on. Managers. Raises NotFound, Forbidden, Invalid."""
    check_text("reason", reason, MAX_PAUSE_CHARACTERS)
    return _set(caller, board_id, column_id, paused=True, pause_reason=reason)


@transaction.atomic
def resume(caller: Caller, *, board_id: UUID, column_id: UUID) -> ContractShape:
    """Offer cards again. Managers. Raises NotFound, Forbidden."""
    return _set(caller, board_id, column_id, paused=False, pause_reason="")


def _set(
    caller: Caller, board_id: UUID, column_id: UUID, *, paused: bool, pause_reason: str
) -> ContractShape:
    access.require(caller, board_id, BoardRole.MANAGER)
    # Shut before the contract is read, so that nobody's change in between is undone.
    shut(column_id)
    seen = reads.contract(caller, board_id=board_id, column_id=column_id)
    kept = {name: getattr(seen, name) for name in Terms.__struct_fields__}
    terms = msgspec.structs.replace(
        Terms(**kept),
        paused=paused,
        pause_reason=pause_reason,
        queue=seen.queue or None,
    )
    return set_contract(caller, board_id=board_id, column_id=column_id, terms=terms)
