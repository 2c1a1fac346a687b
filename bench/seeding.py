"""The world that is measured: one workspace, one agent, queues of any depth.

Made with the product's own verbs; only the masses of cards are copied inside
PostgreSQL from one card that a verb made.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from accounts.callers import Caller
from accounts.credentials import caller_of_actor, caller_of_token
from accounts.models import Actor, User, Workspace
from accounts.roles import WorkspaceRole
from accounts.verbs.agents import create_agent, create_token
from bench.talks import Queue
from boards.models import Card, Column
from boards.ordering import GAP
from boards.verbs.boards import create_board
from boards.verbs.cards import NewCard, create_card
from leases.verbs.set_contract import Terms, set_contract

LIMIT = 64
INPUT_SCHEMA = {
    "type": "object",
    "properties": {"payload": {"type": "object", "required": ["url"]}},
}
OUTPUT_SCHEMA = {
    "type": "object",
    "properties": {
        "ok": {"type": "boolean"},
        "words": {"type": "integer", "minimum": 0},
    },
    "required": ["ok"],
}
_PAYLOAD = {"url": "https://example.com/article", "note": "x" * 160}


@dataclass(frozen=True)
class World:
    """`agent` and `token` are the same caller, from inside and by REST."""

    owner: Caller
    agent: Caller
    other: UUID
    token: str


def a_world() -> World:
    workspace = Workspace.objects.create(name="Bench", slug="bench")
    owner = caller_of_actor(
        Actor.objects.create(
            workspace=workspace,
            kind=Actor.Kind.PERSON,
            handle="owner",
            name="Owner",
            user=User.objects.create_user(username="owner", handle="owner"),
            role=WorkspaceRole.OWNER,
        )
    )
    seat = create_agent(owner, handle="worker", name="Worker")
    other = create_agent(owner, handle="other", name="Other")
    _, token = create_token(owner, agent_id=seat, name="bench", scopes=["read", "work"])
    return World(owner, caller_of_token(token), other, token)


def a_queue(world: World, cards: int, **terms: Any) -> Queue:
    """A board whose first column is a queue with so many cards.

    Completed cards go to its end, so that it stays as deep as it is, unless `terms`
    (of the contract) say otherwise.
    """
    board_id = create_board(world.owner, name="Bench", columns=("Work", "Done"))
    work, done = Column.objects.filter(board_id=board_id).order_by("position")
    after = done.pk if terms.pop("leaves", False) else work.pk
    usual: dict[str, Any] = {
        "enabled": True,
        "on_success_column_id": after,
        "concurrency_limit": LIMIT,
        "output_schema": OUTPUT_SCHEMA,
    }
    set_contract(
        world.owner,
        board_id=board_id,
        column_id=work.pk,
        terms=Terms(**{**usual, **terms}),
    )
    queue = Queue(board_id, work.pk, world.token)
    fill(world, queue, cards)
    return queue


def fill(world: World, queue: Queue, cards: int, **columns: str) -> None:
    """So many more cards at its end; `columns` are SQL for columns that differ."""
    add(world, queue, cards, **columns)
    vacuum()


def vacuum() -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE boards_card")


def add(world: World, queue: Queue, cards: int, **columns: str) -> None:
    """The same without a vacuum, for several in a row."""
    template = create_card(
        world.owner,
        board_id=queue.board_id,
        column_id=queue.column_id,
        card=NewCard(title="Write about it", payload=_PAYLOAD),
    )
    columns = {"fits": "true", **columns}
    different = {
        "id": "uuidv7()",
        "number": "t.number + g",
        "position": f"nextval('boards_card_position') * {GAP}",
        **columns,
    }
    names = [str(field.column) for field in Card._meta.concrete_fields]
    values = [different.get(name, f"t.{name}") for name in names]
    changes = ", ".join(f"{name} = {value}" for name, value in columns.items())
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO boards_card ({', '.join(names)}) SELECT {', '.join(values)}"
            " FROM boards_card t, generate_series(1, %s) g WHERE t.id = %s",
            [cards - 1, template],
        )
        cursor.execute(f"UPDATE boards_card t SET {changes} WHERE id = %s", [template])
        cursor.execute(
            "UPDATE accounts_workspace SET last_card_number = last_card_number + %s"
            " WHERE id = %s",
            [cards - 1, world.owner.workspace_id],
        )
