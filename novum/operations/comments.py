"""What is said about cards."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from accounts.callers import Caller
from accounts.pages import Page
from boards import reads
from boards.shapes import CommentShape
from boards.verbs import comments
from novum.operations.given.cards import CardInput
from novum.operations.operation import Operation, PageInput, Remembers

_COMMENTS = "/cards/{card_id}/comments"


class ListComments(PageInput, frozen=True):
    card_id: UUID


class AddComment(CardInput, frozen=True):
    text: Annotated[comments.Text, Meta(description="Markdown.")]


class CommentInput(CardInput, frozen=True):
    comment_id: UUID


class EditComment(CommentInput, frozen=True):
    text: comments.Text


def list_comments(caller: Caller, given: ListComments) -> Page[CommentShape]:
    return reads.comments(
        caller,
        card_id=given.card_id,
        page_size=given.page_size,
        page_token=given.page_token,
    )


def add_comment(caller: Caller, given: AddComment) -> CommentShape:
    comment_id = comments.add_comment(caller, card_id=given.card_id, text=given.text)
    return reads.comment(caller, comment_id=comment_id)


def edit_comment(caller: Caller, given: EditComment) -> CommentShape:
    comments.edit_comment(
        caller,
        card_id=given.card_id,
        comment_id=given.comment_id,
        text=given.text,
    )
    return reads.comment(caller, comment_id=given.comment_id)


def delete_comment(caller: Caller, given: CommentInput) -> None:
    comments.delete_comment(caller, card_id=given.card_id, comment_id=given.comment_id)


OPERATIONS = (
    Operation(
        name="list_comments",
        method="GET",
        path=_COMMENTS,
        summary="A card's comments, oldest first.",
        input=ListComments,
        output=Page[CommentShape],
        call=list_comments,
        scope="read",
        who="viewer",
        errors=("bad_cursor",),
    ),
    Operation(
        name="add_comment",
        method="POST",
        path=_COMMENTS,
        summary="Say something about a card, in markdown.",
        input=AddComment,
        output=CommentShape,
        call=add_comment,
        scope="write",
        who="commenter",
        errors=("invalid",),
        status=201,
        remembers=Remembers(
            lambda made: [made.id],
            lambda caller, given, ids: reads.comment(caller, comment_id=ids[0]),
        ),
    ),
    Operation(
        name="edit_comment",
        method="PATCH",
        path=f"{_COMMENTS}/{{comment_id}}",
        summary="Put one's own comment right.",
        input=EditComment,
        output=CommentShape,
        call=edit_comment,
        scope="write",
        who="commenter",
        errors=("invalid",),
        repeatable=False,
    ),
    Operation(
        name="delete_comment",
        method="DELETE",
        path=f"{_COMMENTS}/{{comment_id}}",
        summary="Take one's own comment back; managers any.",
        input=CommentInput,
        output=None,
        call=delete_comment,
        scope="write",
        who="commenter",
        status=204,
    ),
)
