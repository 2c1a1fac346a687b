"""Cards: see, create, edit, move, archive, requeue, call off."""

import msgspec

from accounts.callers import Caller
from accounts.pages import Page
from boards import reads
from boards.errors import VersionMismatch
from boards.shapes import CardShape
from boards.verbs import cards, moving
from boards.verbs.cards import MAX_BULK_CARDS, NewCard
from boards.verbs.places import Place
from leases.explaining import Explained, explain
from leases.shapes import Activity, Cancelled
from leases.verbs import activity, cancel
from leases.verbs.requeue import requeue
from leases.verbs.revoke import free
from novum.operations.given.cards import (
    ArchiveCard,
    BulkCreateCards,
    CancelCard,
    CardInput,
    CreateCard,
    EditCard,
    ListCards,
    MoveCard,
    SetCardActivity,
)
from novum.operations.operation import (
    Operation,
    Remembers,
)


class CardList(msgspec.Struct, frozen=True):
    cards: list[CardShape]


def version_of(if_match: str | None) -> int | None:
    """The version that an If-Match names; what can't be a card's ETag matches none."""
    if if_match is None or if_match.strip() == "*":
        return None
    tag = if_match.strip().strip('"')
    number = tag.removeprefix("card-")
    if tag.startswith("card-") and number.isdecimal() and len(number) < 19:
        return int(number)
    raise VersionMismatch("If-Match names no version of a card.")


def list_cards(caller: Caller, given: ListCards) -> Page[CardShape]:
    wanted = reads.CardFilter(
        board_id=given.board_id,
        column_id=given.column_id,
        state=given.state,
        labels=tuple(label for label in given.labels.split(",") if label),
        assignee=given.assignee,
        holder=given.holder,
        text=given.q or None,
        archived=given.archived,
    )
    return reads.cards(
        caller, wanted, page_size=given.page_size, page_token=given.page_token
    )


def get_card(caller: Caller, given: CardInput) -> CardShape:
    return reads.card(caller, card_id=given.card_id)


def create_card(caller: Caller, given: CreateCard) -> CardShape:
    fields = {name: getattr(given, name) for name in NewCard.__struct_fields__}
    card_id = cards.create_card(
        caller,
        board_id=given.board_id,
        column_id=given.column_id,
        card=NewCard(**fields),
        place=Place.of(given.before, given.after, given.position),
    )
    return reads.card(caller, card_id=card_id)


def bulk_create_cards(caller: Caller, given: BulkCreateCards) -> CardList:
    ids = cards.create_cards(
        caller,
        board_id=given.board_id,
        column_id=given.column_id,
        cards=given.cards,
    )
    return CardList(reads.cards_by_ids(caller, ids))


def edit_card(caller: Caller, given: EditCard) -> CardShape:
    changes = {
        name: value
        for name in NewCard.__struct_fields__
        if (value := getattr(given, name)) is not msgspec.UNSET
    }
    version = version_of(given.if_match)
    cards.edit_card(caller, card_id=given.card_id, version=version, **changes)
    return get_card(caller, given)


def move_card(caller: Caller, given: MoveCard) -> CardShape:
    moving.move_card(
        caller,
        card_id=given.card_id,
        column_id=given.column_id,
        place=Place.of(given.before, given.after, given.position),
        version=version_of(given.if_match),
        free=free(caller) if given.force else None,
    )
    return get_card(caller, given)


def archive_card(caller: Caller, given: ArchiveCard) -> CardShape:
    cards.archive_card(
        caller,
        card_id=given.card_id,
        version=version_of(given.if_match),
        free=free(caller) if given.force else None,
    )
    return get_card(caller, given)


def restore_card(caller: Caller, given: CardInput) -> CardShape:
    cards.restore_card(caller, card_id=given.card_id)
    return get_card(caller, given)


def requeue_card(caller: Caller, given: CardInput) -> CardShape:
    requeue(caller, card_id=given.card_id)
    return get_card(caller, given)


def cancel_card(caller: Caller, given: CancelCard) -> Cancelled:
    """For a card's creator, or managers. An open card ends at once (failed, not
    retried); a holder is asked to stop with its next heartbeat and loses the card with
    the call after that, or within a minute. What has ended stays: 409."""
    return cancel.request_cancel(caller, card_id=given.card_id, reason=given.reason)


def explain_card(caller: Caller, given: CardInput) -> Explained:
    """Why nobody is taking a card: every rule that keeps it back (`rules`), or its
    place in line and when a worker last asked."""
    return explain(caller, card_id=given.card_id)


def set_card_activity(caller: Caller, given: SetCardActivity) -> Activity:
    """For work without a lease; with one, renew_lease takes `doing`. The last one wins,
    for ten minutes or until the card changes. Silent: no event, no version."""
    return activity.set_card_activity(caller, card_id=given.card_id, doing=given.doing)


_CARD = "/cards/{card_id}"

OPERATIONS = (
    Operation(
        name="list_cards",
        method="GET",
        path="/cards",
        summary="Cards by board, column, state, label, assignee, holder or text.",
        input=ListCards,
        output=Page[CardShape],
        call=list_cards,
        scope="read",
        who="viewer",
        errors=("bad_cursor",),
    ),
    Operation(
        name="create_card",
        method="POST",
        path="/cards",
        summary="Make a card. In a queue it's open at once, or from `not_before` on.",
        input=CreateCard,
        output=CardShape,
        call=create_card,
        scope="write",
        who="editor",
        errors=("invalid",),
        status=201,
        remembers=Remembers(
            lambda made: [made.id],
            lambda caller, given, ids: reads.card(caller, card_id=ids[0]),
        ),
    ),
    Operation(
        name="bulk_create_cards",
        method="POST",
        path="/cards:bulk-create",
        summary=f"Make up to {MAX_BULK_CARDS} cards in order, all or nothing.",
        input=BulkCreateCards,
        output=CardList,
        call=bulk_create_cards,
        scope="write",
        who="editor",
        errors=("invalid",),
        status=201,
        remembers=Remembers(
            lambda made: [card.id for card in made.cards],
            lambda caller, given, ids: CardList(reads.cards_by_ids(caller, ids)),
        ),
    ),
    Operation(
        name="get_card",
        method="GET",
        path=_CARD,
        summary="One card, with its ETag.",
        input=CardInput,
        output=CardShape,
        call=get_card,
        scope="read",
        who="viewer",
    ),
    Operation(
        name="edit_card",
        method="PATCH",
        path=_CARD,
        summary="Change what is given of a card, also while it's being worked on.",
        input=EditCard,
        output=CardShape,
        call=edit_card,
        scope="write",
        who="editor",
        errors=("invalid", "version_mismatch"),
    ),
    Operation(
        name="move_card",
        method="POST",
        path=f"{_CARD}:move",
        summary="Move a card. One that's being worked on: only with `force`.",
        input=MoveCard,
        output=CardShape,
        call=move_card,
        scope="write",
        who="editor",
        errors=("invalid", "card_held", "version_mismatch"),
        destroys=True,
    ),
    Operation(
        name="archive_card",
        method="POST",
        path=f"{_CARD}:archive",
        summary="Put a card away. One that's being worked on: only with `force`.",
        input=ArchiveCard,
        output=CardShape,
        call=archive_card,
        scope="write",
        who="editor",
        errors=("card_held", "version_mismatch"),
        repeatable=True,
        destroys=True,
    ),
    Operation(
        name="restore_card",
        method="POST",
        path=f"{_CARD}:restore",
        summary="Bring an archived card back to the end of its column.",
        input=CardInput,
        output=CardShape,
        call=restore_card,
        scope="write",
        who="editor",
        repeatable=True,
    ),
    Operation(
        name="requeue_card",
        method="POST",
        path=f"{_CARD}:requeue",
        summary="Another round for a failed or done card: attempts 0, due now.",
        input=CardInput,
        output=CardShape,
        call=requeue_card,
        scope="write",
        who="editor",
        errors=("card_held", "not_requeueable", "conflict"),
        repeatable=True,
    ),
    Operation(
        name="cancel_card",
        method="POST",
        path=f"{_CARD}:cancel",
        summary="Call a card off; whoever works on it is asked to stop.",
        input=CancelCard,
        output=Cancelled,
        call=cancel_card,
        scope="write",
        who="manager",
        errors=("not_cancellable", "invalid"),
        repeatable=True,
        destroys=True,
    ),
    Operation(
        name="explain_card",
        method="GET",
        path=f"{_CARD}:explain",
        summary="Why nobody is taking a card, or its place in line.",
        input=CardInput,
        output=Explained,
        call=explain_card,
        scope="read",
        who="viewer",
    ),
    Operation(
        name="set_card_activity",
        method="PUT",
        path=f"{_CARD}/activity",
        summary="Say in one line what is being done with a card, without a lease.",
        input=SetCardActivity,
        output=Activity,
        call=set_card_activity,
        scope="work",
        who="editor",
        errors=("card_held", "invalid"),
        destroys=False,
        repeatable=False,
    ),
)
