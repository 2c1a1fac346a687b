"""Comments: say something about a card, take it back, put it right."""

from typing import Annotated
from uuid import UUID

from django.db import transaction

from accounts.callers import Caller
from accounts.errors import Forbidden, Invalid, NotFound
from accounts.roles import BoardRole
from accounts.told import told
from boards import access, events
from boards.models import Card, ClockTimestamp, Comment
from boards.verbs.moving import card_seen

MAX_COMMENT_CHARACTERS = 20_000

Text = Annotated[str, told(minLength=1, maxLength=MAX_COMMENT_CHARACTERS)]


@transaction.atomic
def add_comment(caller: Caller, *, card_id: UUID, text: str) -> UUID:
    """Commenters. The card's version stays: nothing of the card has changed.

    Raises NotFound, Forbidden, Invalid.
    """
    seen = card_seen(caller, card_id)
    access.require(caller, seen.board_id, BoardRole.COMMENTER)
    card = Card.objects.locked().get(pk=card_id)
    comment = Comment.objects.create(
        card=card, author_id=caller.actor_id, text=_text(text)
    )
    card.sequence += 1
    card.save(update_fields=["sequence"])
    events.record(
        caller,
        events.CARD_COMMENTED,
        board=card.board_id,
        card=card,
        data={"comment_id": str(comment.pk)},
    )
    return comment.pk


@transaction.atomic
def edit_comment(caller: Caller, *, card_id: UUID, comment_id: UUID, text: str) -> UUID:
    """One's own. Raises NotFound, Forbidden, Invalid."""
    comment = _own(caller, card_id, comment_id)
    comment.text = _text(text)
    comment.edited_at = ClockTimestamp()
    comment.save()
    return comment.pk


@transaction.atomic
def delete_comment(caller: Caller, *, card_id: UUID, comment_id: UUID) -> None:
    """One's own, or any as manager of the board. Raises NotFound, Forbidden."""
    _own(caller, card_id, comment_id, or_manager=True).delete()


def _own(
    caller: Caller, card_id: UUID, comment_id: UUID, *, or_manager: bool = False
) -> Comment:
    comment = (
        Comment.objects.select_for_update(of=("self",))
        .select_related("card")
        .filter(
            pk=comment_id,
            card_id=card_id,
            card__workspace_id=caller.workspace_id,
        )
        .first()
    )
    if comment is None or not access.can_see(caller, comment.card.board_id):
        raise NotFound("There is no such comment here.")
    role = access.require(caller, comment.card.board_id, BoardRole.COMMENTER)
    if comment.author_id == caller.actor_id:
        return comment
    if or_manager and role >= BoardRole.MANAGER:
        return comment
    raise Forbidden("That comment is somebody else's.")


def _text(text: str) -> str:
    if not text.strip():
        raise Invalid.at("/text", "blank", "Say something.")
    if len(text) > MAX_COMMENT_CHARACTERS:
        raise Invalid.at(
            "/text", "too_long", f"At most {MAX_COMMENT_CHARACTERS} characters."
        )
    return text
