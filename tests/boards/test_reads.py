"""Finding cards: filters, order, pages."""

import pytest

from accounts.errors import NotFound
from accounts.pages import BadCursor
from boards.reads import CardFilter, card, cards, cards_by_ids
from boards.verbs.boards import create_board, edit_board
from boards.verbs.cards import archive_card
from leases.verbs.complete import complete
from tests.builders import a_world, all_pages, an_agent, lapse, receipt


def find(world, by=None, page_size=50, **wanted):
    found = all_pages(
        cards,
        by or world.owner,
        CardFilter(board_id=world.board, **wanted),
        page_size=page_size,
    )
    return [one.id for one in found]


@pytest.fixture
def mixed(world):
    world.set(input_schema={"properties": {"title": {"pattern": "^[^!]*$"}}})
    done = world.add("Done")
    complete(world.worker, **receipt(world.claim()))
    world.add("Waiting")
    waiting = world.fail_card(retry_after_seconds=60)
    misfit = world.add("Misfit!")
    claimed = world.add("Claimed")
    world.claim()
    ready = world.add("Ready")
    plain = world.add("Plain", column=world.failed)
    return {
        "done": done,
        "waiting": waiting,
        "misfit": misfit,
        "claimed": claimed,
        "ready": ready,
        "plain": plain,
    }


@pytest.mark.parametrize(
    ("state", "names"),
    [
        ("open", {"waiting", "misfit", "ready"}),
        ("waiting", {"waiting"}),
        ("misfit", {"misfit"}),
        ("claimed", {"claimed"}),
        ("done", {"done"}),
        ("failed", set()),
        ("none", {"plain"}),
    ],
)
def test_cards_by_state_and_its_shades(world, mixed, state, names):
    assert set(find(world, state=state)) == {mixed[name] for name in names}


def test_cards_by_label_assignee_holder_and_text(world):
    both = world.add("Bees and birds", labels=["a", "b"])
    one = world.add("Wasps", labels=["a"], description="no BEES")
    mine = world.add("Ants", assignee=world.worker.handle)
    assert find(world, labels=("a",)) == [both, one]
    assert find(world, labels=("a", "b")) == [both]
    assert find(world, assignee=f"@{world.worker.handle}") == [mine]
    assert find(world, text="bees") == [both, one]
    assert find(world, text="%") == []
    held = world.claim()
    assert find(world, holder=world.worker.handle) == [held.card.id]


def test_a_column_is_paged_in_claim_order(world):
    for number in range(13):
        world.add(priority=1 + number % 3)
    whole = find(world, column_id=world.queue)
    assert find(world, column_id=world.queue, page_size=1) == whole
    assert find(world, column_id=world.queue, page_size=4) == whole
    assert world.claim_all() == whole


def test_without_a_column_by_age(world):
    made = [world.add(column=column) for column in (world.done, world.queue) * 3]
    assert find(world, page_size=2) == made


def test_archived_cards_are_apart(world):
    kept, away = world.add_many(2)
    archive_card(world.owner, card_id=away)
    assert find(world) == [kept]
    assert find(world, archived=True) == [away]


def test_without_a_board_all_that_the_caller_can_see(world):
    here = world.add()
    hidden = create_board(
        world.owner, name="Hidden", default_role=None, columns=("One",)
    )
    other = a_world()
    other.add()
    everything = {"page_size": 50, "page_token": ""}
    assert [
        one.id for one in cards(world.worker, CardFilter(), **everything).items
    ] == [here]
    with pytest.raises(NotFound):
        cards(world.worker, CardFilter(board_id=hidden), **everything)


def test_one_card_and_several_by_id(world):
    first, second = world.add_many(2)
    foreign = a_world().add()
    shown = cards_by_ids(world.owner, [second, foreign, first])
    assert [one.id for one in shown] == [second, first]
    assert card(world.owner, card_id=first) == shown[1]
    with pytest.raises(NotFound):
        card(world.owner, card_id=foreign)
    edit_board(world.owner, board_id=world.board, default_role=None)
    with pytest.raises(NotFound):
        card(an_agent(world.workspace), card_id=first)


@pytest.mark.parametrize("token", ["x", "W10", "WzFd", "é", "bnVsbA", "=" * 10])
def test_a_cursor_that_is_not_ours_is_refused(world, token):
    with pytest.raises(BadCursor):
        cards(
            world.owner,
            CardFilter(board_id=world.board, column_id=world.queue),
            page_size=5,
            page_token=token,
        )


def test_the_numbers_of_queries_do_not_grow_with_the_cards(
    world, django_assert_num_queries
):
    wanted = CardFilter(board_id=world.board, column_id=world.queue)
    for number in (3, 100):
        world.add_many(number, assignee=world.worker.handle)
        lapse(world.claim())
        with django_assert_num_queries(1):
            cards(world.owner, wanted, page_size=200, page_token="")
