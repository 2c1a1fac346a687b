"""Small worlds for tests: a workspace, people, agents, boards, queues and cards.

Everything is built with the product's own verbs where there is one. Time is moved by
moving stored timestamps back (`lapse`, `make_due`), never by waiting.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import UUID

import msgspec

from accounts.callers import Caller
from accounts.credentials import caller_of_actor, caller_of_token
from accounts.models import Actor, User, WorkerToken, Workspace
from accounts.roles import WorkspaceRole
from accounts.tokens import AGENT_PREFIX, digest, mint
from boards.models import Card, ClockTimestamp, Event
from boards.reads import CardFilter, cards
from boards.verbs.boards import create_board
from boards.verbs.cards import NewCard, create_card, create_cards
from boards.verbs.columns import create_column
from leases.models import Contract, Lease, Slot
from leases.shapes import Claim, Claimed, ContractShape
from leases.verbs.claim import claim
from leases.verbs.give_back import fail
from leases.verbs.set_contract import Terms, set_contract

ALL_SCOPES = tuple(WorkerToken.Scope.values)
A_SECOND = timedelta(seconds=1)
_numbers = count(1)


def a_workspace() -> Workspace:
    number = next(_numbers)
    return Workspace.objects.create(name=f"Workspace {number}", slug=f"w{number}")


def a_person(workspace: Workspace, role: WorkspaceRole = WorkspaceRole.OWNER) -> Caller:
    name = f"person-{next(_numbers)}"
    actor = Actor.objects.create(
        workspace=workspace,
        kind=Actor.Kind.PERSON,
        handle=name,
        name=name.title(),
        user=User.objects.create(username=name, handle=name),
        role=role,
    )
    return caller_of_actor(actor)


def a_seat(workspace: Workspace) -> Actor:
    name = f"agent-{next(_numbers)}"
    return Actor.objects.create(
        workspace=workspace, kind=Actor.Kind.AGENT, handle=name, name=name.title()
    )


def a_token(
    actor: Actor, scopes: Iterable[str] = ALL_SCOPES, **fields: Any
) -> tuple[str, WorkerToken]:
    """The secret, and the row that knows it."""
    text = mint(AGENT_PREFIX)
    row = WorkerToken.objects.create(
        workspace_id=actor.workspace_id,
        actor=actor,
        name="Worker",
        digest=digest(text),
        hint=text[:5] + "…" + text[-4:],
        scopes=list(scopes),
        **fields,
    )
    return text, row


def an_agent(workspace: Workspace) -> Caller:
    """An agent as its worker comes in: by a token."""
    text, _ = a_token(a_seat(workspace))
    return caller_of_token(text)


@dataclass
class World:
    """One board with a queue, a column for what is done and one for what failed."""

    workspace: Workspace
    owner: Caller
    worker: Caller
    board: UUID
    queue: UUID
    done: UUID
    failed: UUID
    terms: dict[str, Any] = field(default_factory=dict)

    def set(self, *, force: bool = False, **terms: Any) -> ContractShape:
        """The queue's contract with these terms changed."""
        self.terms |= terms
        return set_contract(
            self.owner,
            board_id=self.board,
            column_id=self.queue,
            terms=Terms(**self.terms),
            force=force,
        )

    def column(self, name: str) -> UUID:
        return create_column(self.owner, board_id=self.board, name=name)

    def add(self, title: str = "Card", *, column: UUID | None = None, **f: Any) -> UUID:
        return create_card(
            self.owner,
            board_id=self.board,
            column_id=column or self.queue,
            card=NewCard(title=title, **f),
        )

    def add_many(self, number: int, **fields: Any) -> list[UUID]:
        new = [NewCard(title=f"Card {i}", **fields) for i in range(number)]
        return create_cards(
            self.owner, board_id=self.board, column_id=self.queue, cards=new
        )

    def ask(self, by: Caller | None = None, **options: Any) -> Claimed:
        """A claim that may come back empty."""
        return claim(
            by or self.worker, board_id=self.board, column_id=self.queue, **options
        )

    def claim(self, by: Caller | None = None, **options: Any) -> Claim:
        """A claim that must find a card."""
        found = self.ask(by, **options)
        assert found.card, f"nothing to claim: {found.reason}"
        return Claim(found.lease, found.lease_token, found.card)

    def claim_all(self, by: Caller | None = None) -> list[UUID]:
        """The cards in the order in which single claims get them."""
        got = []
        while (found := self.ask(by)).card:
            got.append(found.card.id)
        return got

    def shown(self, column: UUID | None = None) -> list[UUID]:
        """The cards in the order in which the board shows them."""
        wanted = CardFilter(board_id=self.board, column_id=column or self.queue)
        return [card.id for card in all_pages(cards, self.owner, wanted)]

    def fail_card(self, **options: Any) -> UUID:
        """Claim a card and fail it; its id."""
        held = self.claim()
        fail(self.worker, **receipt(held), **options)
        return held.card.id


def a_world(**terms: Any) -> World:
    workspace = a_workspace()
    owner, worker = a_person(workspace), an_agent(workspace)
    board = create_board(owner, name="Content")
    queue, done, failed = (
        create_column(owner, board_id=board, name=name)
        for name in ("Drafting", "Done", "Needs attention")
    )
    world = World(workspace, owner, worker, board, queue, done, failed)
    world.set(
        **{
            "enabled": True,
            "on_success_column_id": done,
            "on_failure_column_id": failed,
            **terms,
        }
    )
    return world


def receipt(held: Claim) -> dict[str, Any]:
    """What a holder shows with every verb."""
    return {"lease_id": held.lease.id, "lease_token": held.lease_token}


def all_pages(read: Any, *arguments: Any, page_size: int = 200, **more: Any) -> Any:
    token = ""
    while True:
        page = read(*arguments, page_size=page_size, page_token=token, **more)
        yield from page.items
        token = page.next_page_token
        if not token:
            return


def lapse(held: Claim) -> None:
    """Let the lease's time have run out a second ago."""
    Lease.objects.filter(pk=held.lease.id).update(
        expires_at=ClockTimestamp() - A_SECOND
    )


def make_due(card_id: UUID) -> None:
    """Let a waiting card have waited long enough."""
    Card.objects.filter(pk=card_id).update(available_at=ClockTimestamp() - A_SECOND)


def event_types(card_id: UUID) -> list[str]:
    rows = Event.objects.filter(card_id=card_id).order_by("sequence")
    return list(rows.values_list("type", flat=True))


def card_row(card_id: UUID) -> Card:
    return Card.objects.get(pk=card_id)


def lease_row(lease_id: UUID) -> Lease:
    return Lease.objects.get(pk=lease_id)


def snapshot(world: World) -> dict[str, list[dict[str, Any]]]:
    """Every stored byte of the world that a verb may change."""
    of_column = {"column_id__in": [world.queue, world.done, world.failed]}
    return {
        "cards": list(
            Card.objects.filter(board_id=world.board).order_by("id").values()
        ),
        "leases": list(
            Lease.objects.filter(board_id=world.board).order_by("id").values()
        ),
        "events": list(
            Event.objects.filter(board_id=world.board).order_by("id").values()
        ),
        "slots": list(Slot.objects.filter(**of_column).order_by("number").values()),
        "contracts": list(Contract.objects.filter(**of_column).values()),
    }


def as_json(shape: msgspec.Struct) -> str:
    return msgspec.json.encode(shape).decode()
