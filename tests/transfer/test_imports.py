"""Who may import where; all or nothing; asked again; the worker's part."""

import json
from datetime import timedelta

import pytest
from django.utils.timezone import now

from accounts.errors import Forbidden, NotFound
from accounts.models import Actor
from accounts.roles import BoardRole, WorkspaceRole
from boards.models import Board, Card, Column, Event
from boards.verbs.boards import edit_board, set_board_member
from tests.builders import a_person, a_workspace, a_world, event_types
from tests.transfer.boards import run_of
from transfer import reads
from transfer.errors import AlreadyImported, NotReady
from transfer.models import ImportRun, StagedRow
from transfer.shapes import Target
from transfer.verbs import carry_out, imports
from transfer.verbs.carry_out import carry_out_next

TABLE = b"Title,List\nOne,Drafting\nTwo,done\n"


@pytest.fixture
def world(db):
    return a_world()


@pytest.fixture
def later(monkeypatch):
    """Every import is one for the worker."""
    monkeypatch.setattr(imports, "MOST_CARDS_AT_ONCE", 0)


def member(world, role):
    caller = a_person(world.workspace, WorkspaceRole.MEMBER)
    set_board_member(world.owner, board_id=world.board, handle=caller.handle, role=role)
    return caller


def test_cards_come_into_columns_of_the_names_of_their_lists(world):
    world.add("There before", column=world.done)
    target = Target(board_id=world.board)
    run_of(member(world, BoardRole.EDITOR), TABLE, target=target)
    one, two = Card.objects.get(title="One"), Card.objects.get(title="Two")
    assert (one.column_id, two.column_id) == (world.queue, world.done)
    # In a queue a card is a job, and is offered like every other one.
    assert (one.state, two.state) == ("open", "")
    assert two.position > Card.objects.get(title="There before").position
    assert event_types(one.pk) == ["card.created"]
    assert world.claim().card.id == one.pk


def test_or_all_into_one_column(world):
    target = Target(board_id=world.board, column_id=world.done)
    run_of(world.owner, TABLE, target=target)
    assert Card.objects.filter(column_id=world.done).count() == 2


def test_an_open_card_is_judged_before_it_is_offered(world):
    world.set(input_schema={"required": ["payload"]})
    target = Target(board_id=world.board, column_id=world.queue)
    run_of(world.owner, TABLE, target=target)
    assert set(Card.objects.values_list("fits", flat=True)) == {None}


def test_editors_may_add_cards_and_managers_columns_too(world):
    new_list = b"Title,List\nOne,Somewhere new\n"
    target = Target(board_id=world.board)
    for role in (BoardRole.VIEWER, BoardRole.COMMENTER):
        with pytest.raises(Forbidden):
            run_of(member(world, role), TABLE, target=target)
    editor = member(world, BoardRole.EDITOR)
    with pytest.raises(Forbidden, match="manager"):
        run_of(editor, new_list, target=target)
    assert not Card.objects.exists()
    assert not ImportRun.objects.exists()
    run_of(member(world, BoardRole.MANAGER), new_list, target=target)
    assert Column.objects.filter(name="Somewhere new").exists()


def test_a_board_that_can_not_be_seen_is_none(world):
    edit_board(world.owner, board_id=world.board, default_role=None)
    for caller in (
        a_person(world.workspace, WorkspaceRole.MEMBER),
        a_person(a_workspace()),
    ):
        with pytest.raises(NotFound):
            run_of(caller, TABLE, target=Target(board_id=world.board))


def test_an_import_is_its_own_persons_and_the_admins(world):
    caller = a_person(world.workspace, WorkspaceRole.MEMBER)
    run = run_of(caller, TABLE)
    assert reads.import_shape(world.owner, import_id=run.pk).imported == 2
    assert [one.id for one in reads.imports(caller)] == [run.pk]
    for other in (
        a_person(world.workspace, WorkspaceRole.MEMBER),
        a_person(a_workspace()),
    ):
        with pytest.raises(NotFound):
            reads.import_shape(other, import_id=run.pk)
        assert reads.imports(other) == []


def test_the_same_file_asks_whoever_brings_it(world):
    run = run_of(world.owner, TABLE)
    other = a_person(world.workspace, WorkspaceRole.MEMBER)
    for caller in (world.owner, other):
        with pytest.raises(AlreadyImported) as asked:
            imports.import_content(caller, content=TABLE, target=Target())
        assert asked.value.facts["import_id"] == run.pk
        assert f"by @{world.owner.handle}: 2 cards" in asked.value.detail
    assert Card.objects.count() == 2
    run_of(other, TABLE)
    assert Card.objects.count() == 4
    # Another workspace hears nothing of it.
    imports.import_content(a_person(a_workspace()), content=TABLE, target=Target())


def test_a_draft_makes_nothing_and_is_begun_once(world):
    run, _ = imports.take_file(world.owner, content=TABLE)
    assert not Card.objects.exists()
    imports.begin_import(world.owner, import_id=run.pk, target=Target())
    with pytest.raises(NotReady):
        imports.begin_import(world.owner, import_id=run.pk, target=Target())
    with pytest.raises(NotReady):
        imports.discard_import(world.owner, import_id=run.pk)
    assert Card.objects.count() == 2


def test_drafts_are_few_and_go_after_a_day(world):
    ids = [imports.take_file(world.owner, content=TABLE)[0].pk for _ in range(7)]
    assert (
        list(ImportRun.objects.order_by("id").values_list("pk", flat=True)) == ids[2:]
    )
    old = now() - timedelta(hours=25)
    ImportRun.objects.filter(pk__in=ids[:5]).update(created_at=old)
    imports.forget_files()
    assert ImportRun.objects.count() == 2


def failing(board, **fields):
    """A document whose last card, behind a full batch, can't be."""
    cards = [{"column": 0, "title": f"Card {i}"} for i in range(501)]
    cards[-1] |= fields
    document = {
        "format": "novum-board",
        "version": 1,
        "board": {"name": board},
        "columns": [{"name": "One", "contract": {"enabled": True, "queue": "one"}}],
        "cards": cards,
    }
    return json.dumps(document).encode()


def nothing_is_there():
    return not (
        Board.objects.filter(name="Half").exists()
        or Card.objects.exists()
        or StagedRow.objects.exists()
    )


def test_one_card_that_can_not_be_keeps_all_away(world):
    with pytest.raises(Exception, match="Priority is"):
        run_of(world.owner, failing("Half", priority=9))
    assert nothing_is_there()
    assert not ImportRun.objects.exists()


def test_a_large_one_is_left_to_the_worker_and_comes_as_a_whole(
    world, later, monkeypatch
):
    run = run_of(world.owner, failing("Whole", priority=2))
    assert (run.state, run.total, run.board_id) == ("waiting", 501, None)
    seen = []
    put = carry_out.staging.put_in_place

    def look(*arguments):
        run.refresh_from_db()
        seen.append((run.state, run.staged, Card.objects.count()))
        put(*arguments)

    monkeypatch.setattr(carry_out.staging, "put_in_place", look)
    assert carry_out_next()
    assert not carry_out_next()
    assert seen == [("running", 501, 0)]
    run.refresh_from_db()
    assert (run.state, run.imported, bytes(run.content)) == ("done", 501, b"")
    cards = Card.objects.filter(board_id=run.board_id)
    assert cards.count() == Event.objects.filter(card_id__in=cards).count() == 501
    assert not StagedRow.objects.exists()


def test_what_goes_wrong_there_is_told_and_leaves_nothing(world, later):
    run = run_of(world.owner, failing("Half", priority=9))
    assert carry_out_next()
    run.refresh_from_db()
    assert run.state == "failed"
    assert run.error == "Priority is 1 (first) to 5. (/cards/500/priority)"
    assert nothing_is_there()


def test_whoever_left_meanwhile_imports_nothing(world, later):
    caller = a_person(world.workspace, WorkspaceRole.MEMBER)
    run = run_of(caller, TABLE)
    Actor.objects.filter(pk=caller.actor_id).update(disabled_at=now())
    assert carry_out_next()
    run.refresh_from_db()
    assert (run.state, Card.objects.count()) == ("failed", 0)


def test_a_worker_that_fell_silent_is_followed_by_another_and_makes_nothing_twice(
    world, later, monkeypatch
):
    run = run_of(world.owner, TABLE)
    put = carry_out.staging.stage

    def stage(*arguments):
        """The first one sleeps here for too long; the second does all meanwhile."""
        monkeypatch.setattr(carry_out.staging, "stage", put)
        put(*arguments)
        ImportRun.objects.update(stirred_at=now() - timedelta(hours=1))
        assert carry_out_next()

    monkeypatch.setattr(carry_out.staging, "stage", stage)
    assert carry_out_next()
    run.refresh_from_db()
    assert (run.state, run.tries) == ("done", 2)
    assert Card.objects.count() == 2
