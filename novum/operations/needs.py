"""What needs somebody, over all boards."""

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from accounts.callers import Caller
from novum import needs
from novum.operations.operation import Input, Operation
from supervision.needs.looking import Wanted
from supervision.needs.shapes import Needs

Reason = Literal[
    "lapsed",
    "dead_letter",
    "unattended",
    "endpoint_off",
    "slow",
    "lapsing",
    "misfit",
    "review",
    "assigned",
]


class ListNeeds(Input, frozen=True):
    reason: Reason | None = None
    board_id: UUID | None = None
    mine: Annotated[
        bool, Meta(description="Only about cards that you made or that are yours.")
    ] = False


def list_needs(caller: Caller, given: ListNeeds) -> Needs:
    """Computed now: what's settled is gone. At most 50 per reason, of boards you can see:
    dead_letter (failed for good), lapsed (lease run out, not taken over), lapsing (twice
    or more in this round), slow (three times as long as 95 % take), misfit (input
    schema), review (a result in a column for people), assigned (to you), unattended
    (cards ready, nobody asked for ten minutes), endpoint_off (webhooks). `actions` are
    operations that settle it, with their `values`."""
    wanted = Wanted(given.reason, given.board_id, given.mine)
    return needs.needs(caller, wanted)


OPERATIONS = (
    Operation(
        name="list_needs",
        method="GET",
        path="/needs",
        summary="What needs somebody now, most urgent first, with what settles it.",
        input=ListNeeds,
        output=Needs,
        call=list_needs,
        scope="read",
        who="anybody",
    ),
)
