"""Creating one card and many: all or nothing, numbered, in the order given."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from accounts.errors import Forbidden, Invalid, NotFound
from accounts.roles import BoardRole
from boards.errors import BoardArchived
from boards.models import Card, Event
from boards.reads import card as read_card
from boards.verbs.boards import archive_board, edit_board, set_board_member
from boards.verbs.cards import MAX_BULK_CARDS, NewCard, create_card, create_cards
from boards.verbs.columns import delete_column
from tests.builders import a_world, an_agent, card_row


def test_a_card_is_stored_as_given(world):
    due = datetime(2027, 1, 2, 3, tzinfo=UTC)
    card = world.add(
        "  Write it  ",
        description="# All",
        priority=1,
        labels=["blog", "x", "blog"],
        assignee=f"@{world.worker.handle}",
        due=due,
        properties={"a": [1, None]},
        payload=["x", {"y": 1.5}],
    )
    shown = read_card(world.owner, card_id=card)
    assert (shown.title, shown.description, shown.priority) == ("Write it", "# All", 1)
    assert (shown.labels, shown.due) == (["blog", "x"], due)
    assert shown.assignee.handle == world.worker.handle
    assert (shown.properties, shown.payload) == ({"a": [1, None]}, ["x", {"y": 1.5}])
    assert (shown.state, shown.attempts, shown.version) == ("open", 0, 1)
    assert shown.created_by.handle == world.owner.handle


def test_in_a_column_that_is_no_queue_it_is_no_job(world):
    assert read_card(world.owner, card_id=world.add(column=world.done)).state is None


def test_keys_count_up_in_the_workspace(world):
    other = a_world()
    keys = [read_card(world.owner, card_id=world.add()).key for _ in range(3)]
    assert keys == ["NOV-1", "NOV-2", "NOV-3"]
    assert read_card(other.owner, card_id=other.add()).key == "NOV-1"
    numbers = [card_row(card).number for card in world.add_many(3)]
    assert numbers == [4, 5, 6]


def test_each_card_has_its_event(world):
    cards = world.add_many(3)
    for number, card in enumerate(cards):
        event = Event.objects.get(card_id=card)
        assert (event.type, event.sequence) == ("card.created", 1)
        assert event.data == {"title": f"Card {number}"}
        assert event.actor_id == world.owner.actor_id


def test_many_stand_in_the_order_given_at_the_bottom(world):
    before = world.add()
    cards = world.add_many(MAX_BULK_CARDS)
    assert world.shown() == [before, *cards]


def test_one_bad_card_among_many_and_none_is_made(world):
    cards = [NewCard(title="a"), NewCard(title="b", priority=9), NewCard(title="c")]
    with pytest.raises(Invalid) as refused:
        create_cards(
            world.owner, board_id=world.board, column_id=world.queue, cards=cards
        )
    assert refused.value.errors[0].pointer == "/cards/1/priority"
    assert world.shown() == []
    assert card_row(world.add()).number == 1


@pytest.mark.parametrize("number", [0, MAX_BULK_CARDS + 1])
def test_a_call_makes_one_to_five_hundred(world, number):
    with pytest.raises(Invalid):
        world.add_many(number)
    assert world.shown() == []


@pytest.mark.parametrize(
    ("pointer", "fields"),
    [
        ("/title", {"title": " "}),
        ("/title", {"title": "\u200b\u2060\ufeff"}),
        ("/title", {"title": "x" * 501}),
        ("/description", {"description": "x" * 100_001}),
        ("/priority", {"priority": 0}),
        ("/priority", {"priority": 6}),
        ("/labels", {"labels": [""]}),
        ("/labels", {"labels": ["x" * 51]}),
        ("/labels", {"labels": [str(n) for n in range(51)]}),
        ("/assignee", {"assignee": "nobody"}),
    ],
)
def test_what_does_not_fit_is_named(world, pointer, fields):
    with pytest.raises(Invalid) as refused:
        world.add(**{"title": "Card", **fields})
    assert refused.value.errors[0].pointer == pointer
    assert world.shown() == []


def test_limits_themselves_fit(world):
    assert world.add(
        "x" * 500,
        description="x" * 100_000,
        labels=[str(n).rjust(50, "l") for n in range(50)],
    )


def test_a_card_can_be_kept_for_later(world):
    hour = datetime.now(UTC) + timedelta(hours=1)
    card = world.add(not_before=hour)
    assert card_row(card).available_at == hour
    assert world.ask().reason == "waiting"


def test_somebody_of_another_workspace_can_not_be_assigned(world):
    with pytest.raises(Invalid):
        world.add(assignee=an_agent(a_world().workspace).handle)


def test_it_takes_an_editor_and_a_board_that_is_there(world):
    call = {
        "board_id": world.board,
        "column_id": world.queue,
        "card": NewCard(title="x"),
    }
    assert create_card(world.worker, **call)
    edit_board(world.owner, board_id=world.board, default_role=BoardRole.COMMENTER)
    with pytest.raises(Forbidden):
        create_card(world.worker, **call)
    set_board_member(
        world.owner,
        board_id=world.board,
        handle=world.worker.handle,
        role=BoardRole.EDITOR,
    )
    assert create_card(world.worker, **call)
    with pytest.raises(NotFound):
        create_card(a_world().owner, **call)
    archive_board(world.owner, board_id=world.board)
    with pytest.raises(BoardArchived):
        create_card(world.worker, **call)
    assert Card.objects.filter(column_id=world.queue).count() == 2


def test_it_takes_a_column_of_that_board(world):
    deleted = world.column("Deleted")
    delete_column(world.owner, board_id=world.board, column_id=deleted)
    for column in (a_world().queue, deleted, uuid4()):
        with pytest.raises(NotFound):
            world.add(column=column)


def test_a_card_is_part_of_another_one_and_asks_for_skills(world):
    parent = world.add()
    card = world.add(parent=parent, skills=[" Python ", "seo", "python"])
    shown = read_card(world.owner, card_id=card)
    assert (shown.parent_id, shown.skills) == (parent, ["python", "seo"])
    plain = read_card(world.owner, card_id=parent)
    assert (plain.parent_id, plain.skills) == (None, [])


@pytest.mark.parametrize(
    "skills", [[""], ["a,b"], ["x" * 51], [f"s{i}" for i in range(21)]]
)
def test_skills_are_few_and_short(world, skills):
    with pytest.raises(Invalid) as refused:
        world.add(skills=skills)
    assert refused.value.errors[0].pointer == "/skills"


def test_a_parent_must_be_seen_by_who_names_it(world):
    foreign = a_world().add()
    for unseen in (foreign, uuid4()):
        with pytest.raises(Invalid) as refused:
            create_cards(
                world.owner,
                board_id=world.board,
                column_id=world.queue,
                cards=[NewCard(title="One"), NewCard(title="Two", parent=unseen)],
            )
        assert refused.value.errors[0].pointer == "/cards/1/parent"
    assert not Card.objects.filter(board_id=world.board).exists()
