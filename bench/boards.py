"""A big board with its people, as pages see it: columns, cards, leases and sessions."""

from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.test import Client

from accounts.models import Actor, User
from accounts.roles import WorkspaceRole
from bench.seeding import World, add, vacuum
from bench.talks import Queue
from boards.models import Column
from boards.verbs.boards import create_board
from leases.verbs.claim import claim
from leases.verbs.set_contract import Terms, set_contract

COLUMNS = 10
LEASES = 200
MOST_IN_A_CALL = 50
_A_DAY = 86_400


@dataclass(frozen=True)
class Board:
    """`queues` are the first columns, which pass cards on to the right."""

    id: UUID
    columns: list[UUID]
    queues: list[Queue]


def a_board(world: World, cards: int) -> Board:
    """Ten columns with so many cards together, half of the columns queues; 200 leases
    (fewer on a small board) that last all day."""
    names = tuple(f"Column {number + 1}" for number in range(COLUMNS))
    board_id = create_board(world.owner, name="Bench", columns=names)
    rows = Column.objects.filter(board_id=board_id).order_by("position")
    columns = list(rows.values_list("pk", flat=True))
    queues = [Queue(board_id, column, world.token) for column in columns]
    half = COLUMNS // 2
    for queue, following in zip(queues[:half], columns[1:], strict=False):
        terms = Terms(enabled=True, on_success_column_id=following)
        set_contract(
            world.owner, board_id=board_id, column_id=queue.column_id, terms=terms
        )
    leases = min(LEASES, cards // 4)
    for queue in queues:
        add(world, queue, cards // COLUMNS)
    vacuum()
    for queue in queues[:half]:
        _lease(world, queue, leases // half)
    return Board(board_id, columns, queues[:half])


def people(world: World, number: int) -> list[str]:
    """So many members of the workspace, each signed in: the cookies of their pages."""
    return [_member(world, f"person-{n}-{world.owner.handle}") for n in range(number)]


def _member(world: World, handle: str) -> str:
    user, _ = User.objects.get_or_create(username=handle, handle=handle)
    Actor.objects.get_or_create(
        workspace_id=world.owner.workspace_id,
        kind=Actor.Kind.PERSON,
        handle=handle,
        name=handle,
        user=user,
        role=WorkspaceRole.MEMBER,
    )
    client = Client()
    client.force_login(user)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    return f"{cookie.key}={cookie.value}"


def page_request(path: str, cookie: str) -> bytes:
    """What a browser sends for a page."""
    return (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\n\r\n"
    ).encode()


def _lease(world: World, queue: Queue, cards: int) -> None:
    for left in range(cards, 0, -MOST_IN_A_CALL):
        claim(
            world.agent,
            board_id=queue.board_id,
            column_id=queue.column_id,
            count=min(left, MOST_IN_A_CALL),
            lease_ttl_seconds=_A_DAY,
        )
