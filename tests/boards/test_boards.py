"""Boards: create, change, archive, restore; who sees them and who may do what there."""

import pytest

from accounts.errors import Forbidden, Invalid, NotFound
from accounts.roles import BoardRole, WorkspaceRole
from boards import access, reads
from boards.errors import BoardArchived
from boards.models import Board, Event
from boards.verbs.boards import (
    archive_board,
    create_board,
    edit_board,
    restore_board,
    set_board_member,
)
from boards.verbs.columns import create_column
from tests.builders import a_person, a_workspace, a_world, all_pages, an_agent, card_row


@pytest.fixture
def workspace(db):
    return a_workspace()


def seen(caller, **options):
    return [
        one.id
        for one in all_pages(reads.boards, caller, **{"archived": False, **options})
    ]


def role_of(caller, board):
    return reads.board(caller, board_id=board).your_role


def test_a_board_comes_with_its_columns_and_its_creator_as_manager(workspace):
    ann = a_person(workspace, WorkspaceRole.MEMBER)
    board = create_board(
        ann, name=" Content ", description="All of it", columns=("Ideas", "Done")
    )
    found = reads.board(ann, board_id=board)
    assert (found.name, found.description) == ("Content", "All of it")
    assert (found.default_role, found.your_role) == ("editor", "manager")
    names = [one.name for one in reads.columns(ann, board_id=board)]
    assert names == ["Ideas", "Done"]
    assert Event.objects.get(board_id=board).type == "board.created"


def test_a_name_must_be_seen_also_that_of_a_column(workspace):
    ann = a_person(workspace)
    for options in ({"name": " "}, {"name": "x", "columns": ("Ideas", "\u200b")}):
        with pytest.raises(Invalid):
            create_board(ann, **options)
    assert seen(ann) == []


def test_what_is_given_changes(workspace):
    ann = a_person(workspace)
    board = create_board(ann, name="Old", description="Text")
    edit_board(ann, board_id=board, name="New")
    edit_board(ann, board_id=board, default_role=BoardRole.VIEWER)
    found = reads.board(ann, board_id=board)
    assert (found.name, found.description) == ("New", "Text")
    assert found.default_role == "viewer"


def test_the_default_role_is_what_every_member_has(workspace):
    ann = a_person(workspace, WorkspaceRole.MEMBER)
    board = create_board(ann, name="Open", default_role=BoardRole.COMMENTER)
    for somebody in (a_person(workspace, WorkspaceRole.MEMBER), an_agent(workspace)):
        assert role_of(somebody, board) == "commenter"
        assert seen(somebody) == [board]


def test_a_private_board_is_there_for_those_named_only(workspace):
    ann = a_person(workspace, WorkspaceRole.MEMBER)
    bob = a_person(workspace, WorkspaceRole.MEMBER)
    board = create_board(ann, name="Private", default_role=None)
    assert seen(bob) == []
    with pytest.raises(NotFound):
        role_of(bob, board)
    set_board_member(ann, board_id=board, handle=bob.handle, role=BoardRole.VIEWER)
    assert (seen(bob), role_of(bob, board)) == ([board], "viewer")
    set_board_member(ann, board_id=board, handle=bob.handle, role=None)
    assert seen(bob) == []


def test_a_role_that_is_named_goes_before_the_default_also_downwards(workspace):
    ann = a_person(workspace, WorkspaceRole.MEMBER)
    bob = a_person(workspace, WorkspaceRole.MEMBER)
    board = create_board(ann, name="Open", default_role=BoardRole.EDITOR)
    set_board_member(
        ann, board_id=board, handle=f"@{bob.handle}", role=BoardRole.VIEWER
    )
    assert role_of(bob, board) == "viewer"
    members = reads.board_members(ann, board_id=board)
    assert {(one.actor.handle, one.role) for one in members} == {
        (ann.handle, "manager"),
        (bob.handle, "viewer"),
    }


def test_admins_and_owners_manage_every_board(workspace):
    ann = a_person(workspace, WorkspaceRole.MEMBER)
    board = create_board(ann, name="Private", default_role=None)
    for role in (WorkspaceRole.ADMIN, WorkspaceRole.OWNER):
        assert role_of(a_person(workspace, role), board) == "manager"


def test_another_workspace_sees_nothing(workspace):
    board = create_board(a_person(workspace), name="Here")
    stranger = a_world().owner
    assert board not in seen(stranger)
    with pytest.raises(NotFound):
        role_of(stranger, board)


def test_only_somebody_of_the_workspace_can_be_named(workspace):
    ann = a_person(workspace)
    board = create_board(ann, name="Here")
    for handle in ("nobody", a_world().owner.handle):
        with pytest.raises(Invalid):
            set_board_member(ann, board_id=board, handle=handle, role=BoardRole.VIEWER)


def test_changes_take_a_manager(workspace):
    ann = a_person(workspace)
    board = create_board(ann, name="Here", default_role=BoardRole.EDITOR)
    bob = a_person(workspace, WorkspaceRole.MEMBER)
    for call in (
        lambda: edit_board(bob, board_id=board, name="x"),
        lambda: archive_board(bob, board_id=board),
        lambda: restore_board(bob, board_id=board),
        lambda: set_board_member(
            bob, board_id=board, handle=bob.handle, role=BoardRole.MANAGER
        ),
    ):
        with pytest.raises(Forbidden) as refused:
            call()
        assert refused.value.facts["needs"] == "manager"
    assert role_of(bob, board) == "editor"


def test_an_archived_board_can_be_seen_but_takes_no_change(world):
    card = world.add()
    archive_board(world.owner, board_id=world.board)
    assert seen(world.owner) == []
    assert seen(world.owner, archived=True) == [world.board]
    assert reads.board(world.worker, board_id=world.board).archived_at
    for call in (
        lambda: world.add(),
        lambda: world.ask(),
        lambda: world.set(paused=True),
        lambda: create_column(world.owner, board_id=world.board, name="x"),
    ):
        with pytest.raises(BoardArchived):
            call()
    restore_board(world.owner, board_id=world.board)
    assert world.claim().card.id == card


def test_archiving_and_restoring_are_idempotent(world):
    for verb, type in (
        (archive_board, "board.archived"),
        (restore_board, "board.restored"),
    ):
        for _ in range(2):
            verb(world.owner, board_id=world.board)
        rows = Event.objects.filter(board_id=world.board, type=type)
        assert rows.count() == 1


def test_roles_are_asked_for_at_most_every_two_seconds(workspace, monkeypatch):
    now = 1000.0
    monkeypatch.setattr(access, "monotonic", lambda: now)
    ann = a_person(workspace, WorkspaceRole.MEMBER)
    bob = a_person(workspace, WorkspaceRole.MEMBER)
    board = create_board(ann, name="Here", default_role=BoardRole.EDITOR)
    assert access.require(bob, board, BoardRole.EDITOR)
    _behind_the_caches_back(board, BoardRole.VIEWER)
    now += 1.9
    assert access.require(bob, board, BoardRole.EDITOR)
    now += 0.2
    with pytest.raises(Forbidden):
        access.require(bob, board, BoardRole.EDITOR)


def test_a_change_in_this_process_counts_at_once(workspace):
    ann = a_person(workspace)
    bob = a_person(workspace, WorkspaceRole.MEMBER)
    board = create_board(ann, name="Here")
    assert access.require(bob, board, BoardRole.EDITOR)
    set_board_member(ann, board_id=board, handle=bob.handle, role=BoardRole.VIEWER)
    with pytest.raises(Forbidden):
        access.require(bob, board, BoardRole.EDITOR)


def test_cards_of_an_archived_board_stay_as_they_are(world):
    card = world.add()
    before = card_row(card)
    archive_board(world.owner, board_id=world.board)
    assert card_row(card).version == before.version


def _behind_the_caches_back(board, role):
    Board.objects.filter(pk=board).update(default_role=role)
