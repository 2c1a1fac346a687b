"""The loop: claim, renew, complete, fail, release; and what a manager may end."""

from collections.abc import Sequence
from uuid import UUID

from accounts.callers import Caller
from accounts.errors import Invalid
from accounts.pages import Page
from accounts.skills import skills_of
from leases import reads
from leases.lookout import Wanted
from leases.shapes import (
    Activity,
    Claimed,
    Ended,
    EndedMany,
    LeaseShape,
    Renewed,
    RenewedMany,
)
from leases.verbs import activity, claim, complete, give_back, renew, revoke
from leases.verbs.claim_card import claim_card as claim_one
from leases.verbs.holding import MAX_LEASES_PER_CALL
from novum.operations.given.leases import (
    ClaimCard,
    ClaimNextCard,
    CompleteLease,
    CompleteLeases,
    FailLease,
    LeaseInput,
    ListLeases,
    ReleaseLease,
    RenewLease,
    RenewLeases,
    RevokeLease,
    SetLeaseActivity,
)
from novum.operations.operation import (
    Operation,
    Remembers,
)


def claim_next_card(caller: Caller, given: ClaimNextCard) -> Claimed:
    """The column must be a queue (its contract enabled). Work on the card, renew
    before `expires_at`, then complete, fail or release."""
    if given.card_id is not None:
        if given.count is not None:
            raise Invalid.at("/count", "invalid", "With card_id there is one card.")
        return claim_one(
            caller,
            card_id=given.card_id,
            column_id=given.column_id,
            lease_ttl_seconds=given.lease_ttl_seconds,
        )
    return claim.claim(
        caller,
        board_id=given.board_id,
        column_id=given.column_id,
        count=given.count,
        lease_ttl_seconds=given.lease_ttl_seconds,
        labels=given.labels,
        skills=given.skills,
    )


def claim_waits(caller: Caller, given: ClaimNextCard) -> Wanted:
    return Wanted(
        workspace_id=caller.workspace_id,
        actor_id=caller.actor_id,
        places=((given.board_id, given.column_id),),
        skills=caller.skills,
        labels=frozenset(given.labels),
        asking=frozenset(skills_of(given.skills, "/skills")),
    )


def claim_again(caller: Caller, given: ClaimNextCard, ids: Sequence[UUID]) -> Claimed:
    return claim.again(caller, ids, many=given.count is not None)


def claim_card(caller: Caller, given: ClaimCard) -> Claimed:
    """For one card, whatever its place in line. Where it can't be claimed the 409 says
    why (`reason`, `held_by`, `until`); explain_card says more."""
    return claim_one(
        caller, card_id=given.card_id, lease_ttl_seconds=given.lease_ttl_seconds
    )


def claim_card_again(caller: Caller, given: ClaimCard, ids: Sequence[UUID]) -> Claimed:
    return claim.again(caller, ids, many=False)


def renew_lease(caller: Caller, given: RenewLease) -> Renewed:
    """Needs the receipt of a lease that has not lapsed. Call it well before
    `expires_at`; stop working if `cancel_requested`."""
    return renew.renew(
        caller,
        lease_id=given.lease_id,
        lease_token=given.lease_token,
        lease_ttl_seconds=given.lease_ttl_seconds,
        doing=given.doing,
    )


def renew_leases(caller: Caller, given: RenewLeases) -> RenewedMany:
    """Needs the receipts of leases that have not lapsed."""
    receipts = {one.lease_id: one.lease_token for one in given.leases}
    doings = {one.lease_id: one.doing for one in given.leases if one.doing is not None}
    return renew.renew_many(caller, receipts=receipts, doings=doings)


def set_lease_activity(caller: Caller, given: SetLeaseActivity) -> Activity:
    """Needs a lease still held. For work between heartbeats: renew_lease takes `doing`,
    too. Silent: no event, no version; it extends nothing."""
    return activity.set_lease_activity(
        caller,
        lease_id=given.lease_id,
        lease_token=given.lease_token,
        doing=given.doing,
    )


def complete_lease(caller: Caller, given: CompleteLease) -> Ended:
    """Needs the receipt of a lease that has not lapsed, and an `output` that fits the
    contract's output_schema."""
    return complete.complete(
        caller,
        lease_id=given.lease_id,
        lease_token=given.lease_token,
        output=given.output,
        properties=given.properties,
        claim_next=given.claim_next,
    )


def complete_leases(caller: Caller, given: CompleteLeases) -> EndedMany:
    """Needs the receipts of leases that have not lapsed."""
    return complete.complete_many(caller, results=given.leases)


def fail_lease(caller: Caller, given: FailLease) -> Ended:
    """Needs the receipt of a lease that has not lapsed. Say in `reason` what the next
    one should know."""
    return give_back.fail(
        caller,
        lease_id=given.lease_id,
        lease_token=given.lease_token,
        reason=given.reason,
        requeue=given.requeue,
        retry_after_seconds=given.retry_after_seconds,
        kind=given.kind,
        until=given.until,
    )


def release_lease(caller: Caller, given: ReleaseLease) -> Ended:
    """Needs the receipt of a lease that has not lapsed. For work that was not begun."""
    return give_back.release(
        caller,
        lease_id=given.lease_id,
        lease_token=given.lease_token,
        note=given.note,
    )


def revoke_lease(caller: Caller, given: RevokeLease) -> Ended:
    """Needs an active lease. Its holder learns of it with the next call."""
    return revoke.revoke(caller, lease_id=given.lease_id, reason=given.reason)


def get_lease(caller: Caller, given: LeaseInput) -> LeaseShape:
    return reads.lease(caller, lease_id=given.lease_id)


def list_leases(caller: Caller, given: ListLeases) -> Page[LeaseShape]:
    return reads.leases(
        caller,
        board_id=given.board_id,
        state=given.state,
        column_id=given.column_id,
        card_id=given.card_id,
        page_size=given.page_size,
        page_token=given.page_token,
    )


_LEASE = "/leases/{lease_id}"

OPERATIONS = (
    Operation(
        name="claim_next_card",
        method="POST",
        path="/boards/{board_id}/columns/{column_id}:claim-next",
        summary="Lease the next eligible card of a queue; null and a reason if none.",
        input=ClaimNextCard,
        output=Claimed,
        call=claim_next_card,
        scope="work",
        who="editor",
        errors=("not_a_queue", "not_claimable", "seat_at_capacity"),
        remembers=Remembers(claim.made, claim_again),
        waits=claim_waits,
        aliases=("/boards/{board_id}/columns/{column_id}:claimNext",),
    ),
    Operation(
        name="claim_card",
        method="POST",
        path="/cards/{card_id}:claim",
        summary="Lease one given card; a person's Start, which never lapses.",
        input=ClaimCard,
        output=Claimed,
        call=claim_card,
        scope="work",
        who="editor",
        errors=("not_claimable", "seat_at_capacity"),
        remembers=Remembers(claim.made, claim_card_again),
    ),
    Operation(
        name="renew_lease",
        method="POST",
        path=f"{_LEASE}:renew",
        summary="The heartbeat: keep the card a while longer. Silent.",
        input=RenewLease,
        output=Renewed,
        call=renew_lease,
        scope="work",
        who="editor",
        errors=("lease_lost",),
        bucket="finish",
        aliases=(f"{_LEASE}:heartbeat",),
    ),
    Operation(
        name="complete_lease",
        method="POST",
        path=f"{_LEASE}:complete",
        summary="Done: store the result, move the card on, end the lease, at once.",
        input=CompleteLease,
        output=Ended,
        call=complete_lease,
        scope="work",
        who="editor",
        errors=("lease_lost", "output_rejected"),
        bucket="finish",
        repeatable=True,
    ),
    Operation(
        name="fail_lease",
        method="POST",
        path=f"{_LEASE}:fail",
        summary="The attempt failed: back to the queue behind a backoff, or dead.",
        input=FailLease,
        output=Ended,
        call=fail_lease,
        scope="work",
        who="editor",
        errors=("lease_lost", "invalid"),
        bucket="finish",
        repeatable=True,
    ),
    Operation(
        name="release_lease",
        method="POST",
        path=f"{_LEASE}:release",
        summary="Give the card back untouched; the attempt doesn't count.",
        input=ReleaseLease,
        output=Ended,
        call=release_lease,
        scope="work",
        who="editor",
        errors=("lease_lost",),
        bucket="finish",
        repeatable=True,
    ),
    Operation(
        name="revoke_lease",
        method="POST",
        path=f"{_LEASE}:revoke",
        summary="Take a card away from its holder.",
        input=RevokeLease,
        output=Ended,
        call=revoke_lease,
        scope="manage",
        who="manager",
        errors=("lease_lost",),
        repeatable=True,
        destroys=True,
    ),
    Operation(
        name="renew_leases",
        method="POST",
        path="/leases:renew",
        summary=f"The heartbeat for up to {MAX_LEASES_PER_CALL} leases; one answer each.",
        input=RenewLeases,
        output=RenewedMany,
        call=renew_leases,
        scope="work",
        who="editor",
        errors=("invalid",),
        bucket="finish",
        aliases=("/leases:heartbeat",),
    ),
    Operation(
        name="complete_leases",
        method="POST",
        path="/leases:complete",
        summary=f"Complete up to {MAX_LEASES_PER_CALL} leases; one answer each.",
        input=CompleteLeases,
        output=EndedMany,
        call=complete_leases,
        scope="work",
        who="editor",
        errors=("invalid",),
        bucket="finish",
        repeatable=True,
    ),
    Operation(
        name="set_lease_activity",
        method="PUT",
        path=f"{_LEASE}/activity",
        summary="Say in one line what is being done under a lease. Silent.",
        input=SetLeaseActivity,
        output=Activity,
        call=set_lease_activity,
        scope="work",
        who="editor",
        errors=("lease_lost", "invalid"),
        bucket="finish",
        destroys=False,
        repeatable=False,
    ),
    Operation(
        name="get_lease",
        method="GET",
        path=_LEASE,
        summary="One lease, whatever its state.",
        input=LeaseInput,
        output=LeaseShape,
        call=get_lease,
        scope="read",
        who="viewer",
    ),
    Operation(
        name="list_leases",
        method="GET",
        path="/boards/{board_id}/leases",
        summary="A board's leases, latest first: active, expired or all.",
        input=ListLeases,
        output=Page[LeaseShape],
        call=list_leases,
        scope="read",
        who="viewer",
        errors=("bad_cursor",),
    ),
)
