"""Comments: say something about a card, put it right, take it back."""

from uuid import uuid4

import pytest

from accounts.errors import Forbidden, Invalid, NotFound
from accounts.roles import BoardRole, WorkspaceRole
from boards.models import Comment, Event
from boards.reads import comment, comments
from boards.verbs.boards import edit_board, set_board_member
from boards.verbs.comments import (
    MAX_COMMENT_CHARACTERS,
    add_comment,
    delete_comment,
    edit_comment,
)
from tests.builders import a_person, a_world, all_pages, card_row


def texts(world, card):
    found = all_pages(comments, world.owner, card_id=card, page_size=2)
    return [one.text for one in found]


def test_comments_stand_in_the_order_in_which_they_were_made(world):
    card = world.add()
    for number in range(5):
        add_comment(world.worker, card_id=card, text=f"No. {number}")
    assert texts(world, card) == [f"No. {number}" for number in range(5)]


def test_a_comment_has_its_author_and_its_event_and_leaves_the_version(world):
    card = world.add()
    made = add_comment(world.worker, card_id=card, text="**Hi**")
    found = comment(world.owner, comment_id=made)
    assert (found.text, found.author.handle) == ("**Hi**", world.worker.handle)
    row = card_row(card)
    assert (row.version, row.sequence) == (1, 2)
    event = Event.objects.get(card_id=card, type="card.commented")
    assert (event.sequence, event.data) == (2, {"comment_id": str(made)})


def test_a_held_card_can_be_commented(world):
    card = world.add()
    held = world.claim()
    add_comment(world.owner, card_id=card, text="Careful")
    assert card_row(card).lease_id == held.lease.id


@pytest.mark.parametrize("text", ["", "  \n", "x" * (MAX_COMMENT_CHARACTERS + 1)])
def test_a_text_out_of_bounds_is_refused(world, text):
    card = world.add()
    with pytest.raises(Invalid) as refused:
        add_comment(world.worker, card_id=card, text=text)
    assert refused.value.errors[0].pointer == "/text"
    assert texts(world, card) == []


def test_ones_own_comment_can_be_put_right(world):
    card = world.add()
    made = add_comment(world.worker, card_id=card, text="Tpyo")
    edit_comment(world.worker, card_id=card, comment_id=made, text="Typo")
    found = comment(world.owner, comment_id=made)
    assert (found.text, found.edited_at is None) == ("Typo", False)


def test_that_of_somebody_else_can_not_not_even_by_a_manager(world):
    card = world.add()
    made = add_comment(world.worker, card_id=card, text="Mine")
    with pytest.raises(Forbidden):
        edit_comment(world.owner, card_id=card, comment_id=made, text="Yours")
    assert texts(world, card) == ["Mine"]


def test_ones_own_can_be_deleted_and_any_by_a_manager(world):
    card = world.add()
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    mine, other = (
        add_comment(world.worker, card_id=card, text=text) for text in ("a", "b")
    )
    with pytest.raises(Forbidden):
        delete_comment(member, card_id=card, comment_id=mine)
    delete_comment(world.worker, card_id=card, comment_id=mine)
    delete_comment(world.owner, card_id=card, comment_id=other)
    assert not Comment.objects.filter(card_id=card).exists()


def test_a_comment_is_found_under_its_own_card_only(world):
    card, other = world.add_many(2)
    made = add_comment(world.worker, card_id=card, text="Here")
    for wrong in (other, uuid4()):
        with pytest.raises(NotFound):
            edit_comment(world.worker, card_id=wrong, comment_id=made, text="There")
        with pytest.raises(NotFound):
            delete_comment(world.worker, card_id=wrong, comment_id=made)
    assert texts(world, card) == ["Here"]


def test_commenters_may_and_viewers_may_not(world):
    card = world.add()
    edit_board(world.owner, board_id=world.board, default_role=BoardRole.COMMENTER)
    made = add_comment(world.worker, card_id=card, text="May I?")
    set_board_member(
        world.owner,
        board_id=world.board,
        handle=world.worker.handle,
        role=BoardRole.VIEWER,
    )
    with pytest.raises(Forbidden):
        add_comment(world.worker, card_id=card, text="No")
    with pytest.raises(Forbidden):
        delete_comment(world.worker, card_id=card, comment_id=made)
    assert comments(world.worker, card_id=card, page_size=5, page_token="").items


def test_strangers_see_nothing(world):
    card = world.add()
    made = add_comment(world.worker, card_id=card, text="Secret")
    stranger = a_world().owner
    for call in (
        lambda: add_comment(stranger, card_id=card, text="x"),
        lambda: comment(stranger, comment_id=made),
        lambda: comments(stranger, card_id=card, page_size=5, page_token=""),
        lambda: delete_comment(stranger, card_id=card, comment_id=made),
    ):
        with pytest.raises(NotFound):
            call()
