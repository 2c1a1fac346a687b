"""Home: boards with true counts in few queries, new boards, archiving."""

import pytest
from django.test import Client
from django.utils.html import escape

from accounts.models import Actor
from accounts.roles import BoardRole, WorkspaceRole
from boards.models import Board, Column
from boards.verbs.boards import archive_board, create_board, edit_board
from leases.models import Contract
from tests.builders import World, a_workspace

MOST_QUERIES = 12
NASTY = '<script>alert("1")</script>'


def counts(client: Client, **headers):
    answer = client.get("/counts", headers=headers)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_home_asks_the_database_as_often_for_thirty_boards_as_for_one(
    ann, world: World, django_assert_max_num_queries
):
    with django_assert_max_num_queries(MOST_QUERIES) as first:
        ann.get("/")
    for number in range(29):
        create_board(world.owner, name=f"Board {number}", columns=("To do",))
    archived = create_board(world.owner, name="Away")
    archive_board(world.owner, board_id=archived)
    world.add_many(10)
    world.claim()
    with django_assert_max_num_queries(MOST_QUERIES) as last:
        page = ann.get("/").content.decode()
    assert len(last) == len(first)
    assert page.count("data-board=") == 30


def test_counts_are_told_by_state(ann, world: World):
    world.add_many(6)
    world.add("Plain", column=world.done)
    world.claim()
    world.fail_card(requeue=True, retry_after_seconds=60)
    world.fail_card(requeue=False)
    text = counts(ann)
    for expected in ("1</b> card being", "data-agents>1</b> agent"):
        assert expected in text
    for state, number in (("working", 1), ("waiting", 1), ("failed", 1), ("open", 3)):
        assert f'<span class="num">{number}</span> {state}' in text


def test_cards_that_do_not_fit_count_as_misfits(ann, world: World):
    world.set(input_schema={"required": ["payload"], "properties": {"payload": False}})
    world.add()
    world.ask()
    assert '<span class="num">1</span> misfit' in counts(ann)


def test_people_at_work_are_not_called_agents(ann, world: World):
    world.add_many(2)
    world.claim(world.owner)
    text = counts(ann)
    assert "data-agents" not in text
    assert '<b class="num">1</b> person' in text


def test_nobody_counts_what_they_cannot_see(bob, world: World):
    world.add_many(2)
    world.claim()
    edit_board(world.owner, board_id=world.board, default_role=None)
    assert "Nobody is at work" in counts(bob)
    assert str(world.board) not in bob.get("/").content.decode()


def test_a_pipeline_is_ready_to_be_claimed_from(ann, world: World):
    answer = ann.post("/", {"name": "News", "plan": "pipeline"})
    board = Board.objects.get(name="News")
    assert answer.url == f"/boards/{board.pk}"
    names = list(
        Column.objects.filter(board=board)
        .order_by("position")
        .values_list("name", flat=True)
    )
    assert names == ["Backlog", "Drafting", "Review", "Needs attention", "Done"]
    ways = {
        row.column.name: (row.on_success_column.name, row.on_failure_column.name)
        for row in Contract.objects.filter(column__board=board, enabled=True)
    }
    assert ways == {
        "Drafting": ("Review", "Needs attention"),
        "Review": ("Done", "Needs attention"),
    }


@pytest.mark.parametrize(
    ("plan", "columns"), [("kanban", ["To do", "Doing", "Done"]), ("empty", [])]
)
def test_other_boards_have_no_queues(ann, plan, columns):
    ann.post("/", {"name": "News", "plan": plan, "private": "on"})
    board = Board.objects.get(name="News")
    found = Column.objects.filter(board=board).order_by("position")
    assert [one.name for one in found] == columns
    assert not any(one.is_queue for one in found)
    assert board.default_role is None


@pytest.mark.parametrize(
    "wrong", [{"name": ""}, {"name": "\u200b"}, {"name": "x" * 101}, {"plan": "no"}]
)
def test_a_bad_board_is_not_made(ann, world: World, wrong):
    answer = ann.post("/", {"name": "News", "plan": "empty", **wrong})
    assert answer.status_code == 422
    assert b'class="error"' in answer.content
    assert Board.objects.count() == 1


def test_archiving_asks_before_it_takes_cards_away(ann, world: World):
    world.add()
    world.claim()
    path = f"/boards/{world.board}/archive"
    assert b"being worked on" in ann.get(path).content
    ann.post(path)
    assert Board.objects.get(pk=world.board).archived_at is None
    ann.post(path, {"force": "on"})
    assert Board.objects.get(pk=world.board).archived_at is not None
    assert b"1 archived board" in ann.get("/").content
    ann.post(f"/boards/{world.board}/restore")
    assert Board.objects.get(pk=world.board).archived_at is None


def test_only_managers_archive(bob, world: World):
    path = f"/boards/{world.board}/archive"
    assert f'href="{path}"' not in bob.get("/").content.decode()
    assert bob.get(path).status_code == 302
    bob.post(path)
    bob.post(f"/boards/{world.board}/restore")
    assert Board.objects.get(pk=world.board).archived_at is None


def test_no_boards_teach_how_to_begin(ann, world: World):
    archive_board(world.owner, board_id=world.board)
    page = ann.get("/").content.decode()
    assert "No boards yet" in page
    assert "Agent pipeline" in page


def test_whoever_is_in_several_workspaces_chooses_one(ann, world: World):
    other = a_workspace()
    user = Actor.objects.get(pk=world.owner.actor_id).user
    Actor.objects.create(
        workspace=other,
        kind=Actor.Kind.PERSON,
        handle="me",
        name="Me",
        user=user,
        role=WorkspaceRole.MEMBER,
    )
    assert other.name in ann.get("/").content.decode()
    ann.post("/choose-workspace", {"workspace": str(other.pk)})
    page = ann.get("/").content.decode()
    assert f'<h1 class="user-text">{other.name}</h1>' in page
    assert str(world.board) not in page


@pytest.mark.parametrize("chosen", ["", "nonsense", None])
def test_nobody_chooses_a_workspace_of_others(ann, world: World, chosen):
    chosen = str(a_workspace().pk) if chosen is None else chosen
    ann.post("/choose-workspace", {"workspace": chosen})
    assert "workspace" not in ann.session
    assert str(world.board) in ann.get("/").content.decode()


def test_names_are_text(ann, world: World):
    edit_board(
        world.owner,
        board_id=world.board,
        name=NASTY,
        description=NASTY,
        default_role=BoardRole.VIEWER,
    )
    page = ann.get("/").content.decode()
    assert NASTY not in page
    assert escape(NASTY) in page
