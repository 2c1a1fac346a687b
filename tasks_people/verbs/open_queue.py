"""Open a queue: find it by its name, or make it at its first use."""

from django.db import connection, transaction

from accounts.callers import Caller
from accounts.errors import Invalid
from accounts.roles import BoardRole
from boards import access, events
from boards.models import Board, Column
from boards.verbs.columns import MAX_COLUMNS
from leases.models import Contract
from leases.statements.gate import gate
from leases.verbs.set_contract import Terms, apply_terms
from tasks_people import queues
from tasks_people.errors import QueueOff, UnknownQueue
from tasks_people.models import TasksBoard
from tasks_people.queues import PEOPLE, Queue

BOARD_NAME = "Tasks"


def open_queue(caller: Caller, name: str) -> Queue:
    """The queue of this name, made if need be: on the workspace's Tasks board, with the
    defaults of a contract. Whoever is an editor there may, and where that board is
    missing everybody (its default role is editor).

    Raises Invalid (a bad name, too many queues), UnknownQueue (it's on a board that the
    caller can't see), QueueOff, Forbidden, BoardArchived.
    """
    queues.check_name(name)
    return queues.find(caller, name) or _made(caller, name)


@transaction.atomic
def _made(caller: Caller, name: str) -> Queue:
    # One at a time in a workspace, so that two first uses make one queue.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [gate(caller.workspace_id)])
    taken = _taken(caller, name)
    if taken is not None:
        return taken
    board_id = _tasks_board(caller).pk
    access.require(caller, board_id, BoardRole.EDITOR)
    if Column.objects.filter(board_id=board_id, archived_at=None).count() >= (
        MAX_COLUMNS
    ):
        detail = f"The board {BOARD_NAME!r} has its {MAX_COLUMNS} columns already."
        raise Invalid.at("/queue", "too_many", detail)
    column = Column.objects.create(board_id=board_id, name=name)
    events.record(
        caller,
        events.COLUMN_CREATED,
        board=board_id,
        column_id=column.pk,
        data={"name": column.name},
    )
    # Tasks that people take don't expire.
    terms = (
        Terms(enabled=True, queue=name, lease_ttl_seconds=None)
        if name == PEOPLE
        else Terms(enabled=True, queue=name)
    )
    apply_terms(caller, board_id=board_id, column_id=column.pk, terms=terms)
    return Queue(name, board_id, column.pk)


def _taken(caller: Caller, name: str) -> Queue | None:
    """Somebody else has just made it, or it's not for this caller."""
    known = Contract.objects.filter(workspace_id=caller.workspace_id, queue=name)
    contract = known.select_related("column").first()
    if contract is None:
        return None
    column = contract.column
    if column.archived_at is not None:
        # Its column is deleted, which gives the name back.
        known.update(queue=f"{name[:40]}-{column.pk.hex[-16:]}")
        return None
    if not access.can_see(caller, column.board_id):
        raise UnknownQueue(name)
    if not contract.enabled:
        raise QueueOff(f"The queue {name!r} is switched off.")
    return Queue(name, column.board_id, column.pk)


def _tasks_board(caller: Caller) -> Board:
    known = TasksBoard.objects.filter(workspace_id=caller.workspace_id)
    found = known.select_related("board").first()
    if found is not None:
        return found.board
    board = Board.objects.create(
        workspace_id=caller.workspace_id,
        name=BOARD_NAME,
        description="Queues that were made at their first use.",
        default_role=BoardRole.EDITOR,
    )
    TasksBoard.objects.create(workspace_id=caller.workspace_id, board=board)
    events.record(caller, events.BOARD_CREATED, board=board, data={"name": board.name})
    return board
