"""For every operation a call that works, for whoever may: what to set up, what to send.

A new operation without a recipe fails the permission matrix.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any
from uuid import UUID

from django.apps import apps
from django.http import HttpResponse

from accounts.callers import Caller
from accounts.models import Actor
from accounts.roles import WorkspaceRole
from accounts.verbs.profile import create_my_token
from boards.models import Comment
from boards.verbs.boards import archive_board
from boards.verbs.cards import archive_card
from leases.shapes import Claim
from novum.operations.operation import Operation
from tests.builders import World, a_person, a_seat, a_token, a_workspace, receipt
from tests.doors.http import Http
from tests.supervision import dead_letter_recipes, queue_recipes
from tests.tasks_people import recipes as tasks
from tests.transfer import recipes as transfer


@dataclass
class Sent:
    """Everything that goes in; names in the path are taken out of `values`."""

    values: dict[str, Any] = field(default_factory=dict)

    def by(self, door: Http, operation: Operation) -> HttpResponse:
        values = dict(self.values)
        path = "/v1" + re.sub(
            r"{(\w+)}", lambda name: str(values.pop(name[1])), operation.path
        )
        if operation.method in ("GET", "DELETE"):
            return door(operation.method, path, query=values)
        return door(operation.method, path, as_json(values))


def as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: as_json(each) for name, each in value.items()}
    if isinstance(value, list):
        return [as_json(each) for each in value]
    return str(value) if isinstance(value, UUID) else value


# Called with the world and who is going to ask (None: anybody at all).
Recipe = Callable[[World, Caller | None], dict[str, Any]]


def _board(world: World, by: Caller | None) -> dict[str, Any]:
    return {"board_id": world.board}


def _column(world: World, by: Caller | None) -> dict[str, Any]:
    return {"board_id": world.board, "column_id": world.queue}


def _plain_column(world: World, by: Caller | None) -> dict[str, Any]:
    return {"board_id": world.board, "column_id": world.column("Later")}


def _card(world: World, by: Caller | None) -> dict[str, Any]:
    return {"card_id": world.add()}


def _held(world: World, by: Caller | None) -> dict[str, Any]:
    return receipt(_a_claim(world))


def _many_held(world: World, by: Caller | None) -> dict[str, Any]:
    return {"leases": [receipt(_a_claim(world))]}


def _a_claim(world: World) -> Claim:
    world.add()
    return world.claim()


def _comment(world: World, by: Caller | None) -> dict[str, Any]:
    """Their own, if they are somebody here."""
    card = world.add()
    author = by if by and by.workspace_id == world.workspace.pk else world.owner
    comment = Comment.objects.create(
        card_id=card, author_id=author.actor_id, text="Well."
    )
    return {"card_id": card, "comment_id": comment.pk}


def _archived_board(world: World, by: Caller | None) -> dict[str, Any]:
    archive_board(world.owner, board_id=world.board)
    return _board(world, by)


def _archived_card(world: World, by: Caller | None) -> dict[str, Any]:
    card = world.add()
    archive_card(world.owner, card_id=card)
    return {"card_id": card}


def _failed_card(world: World, by: Caller | None) -> dict[str, Any]:
    world.add()
    return {"card_id": world.fail_card(requeue=False)}


def _agent(world: World, by: Caller | None) -> dict[str, Any]:
    return {"agent_id": a_seat(world.workspace).pk}


def _busy_agent(world: World, by: Caller | None) -> dict[str, Any]:
    _a_claim(world)
    return {"agent_id": world.worker.actor_id}


def _token(world: World, by: Caller | None) -> dict[str, Any]:
    seat = a_seat(world.workspace)
    return {"agent_id": seat.pk, "token_id": a_token(seat)[1].pk}


def _person(world: World, by: Caller | None) -> dict[str, Any]:
    return {"person_id": a_person(world.workspace, WorkspaceRole.MEMBER).actor_id}


def _login_elsewhere(world: World, by: Caller | None) -> dict[str, Any]:
    stranger = a_person(a_workspace())
    return {"username": Actor.objects.get(pk=stranger.actor_id).user.username}


def _my_token(world: World, by: Caller | None) -> dict[str, Any]:
    """Their own, if they are a person here."""
    is_ours = by and by.workspace_id == world.workspace.pk and by.kind == "person"
    made, _ = create_my_token(by if by and is_ours else world.owner, name="Laptop")
    return {"token_id": made}


def _workspace(world: World, by: Caller | None) -> dict[str, Any]:
    return {"workspace_id": world.workspace.pk}


def _nothing(world: World, by: Caller | None) -> dict[str, Any]:
    return {}


def _with(recipe: Recipe, **more: Any) -> Recipe:
    return lambda world, by: recipe(world, by) | more


def _of_parts() -> dict[str, Recipe]:
    """Those of apps that bring operations of their own (novum.parts)."""
    found: dict[str, Recipe] = {}
    for config in apps.get_app_configs():
        if hasattr(config, "operations"):
            found |= import_module(f"tests.{config.label}.recipes").RECIPES
    return found


RECIPES: dict[str, Recipe] = {
    "claim_next_card": lambda world, by: {**_column(world, by), **_ready(world)},
    "renew_lease": _held,
    "complete_lease": _held,
    "fail_lease": _held,
    "release_lease": _held,
    "revoke_lease": lambda world, by: {"lease_id": _a_claim(world).lease.id},
    "renew_leases": _many_held,
    "complete_leases": _many_held,
    "set_lease_activity": _with(_held, doing="Reading it"),
    "get_lease": lambda world, by: {"lease_id": _a_claim(world).lease.id},
    "list_leases": _board,
    "find_leases": _nothing,
    "revoke_leases": lambda world, by: {"lease_ids": [_a_claim(world).lease.id]},
    "list_cards": _board,
    "create_card": _with(_column, title="New"),
    "bulk_create_cards": _with(_column, cards=[{"title": "New"}]),
    "get_card": _card,
    "edit_card": _with(_card, title="Changed"),
    "move_card": _with(_card, position="top"),
    "archive_card": _card,
    "restore_card": _archived_card,
    "requeue_card": _failed_card,
    "cancel_card": _card,
    "claim_card": _card,
    "explain_card": _card,
    "set_card_activity": _with(_card, doing="Reading it"),
    "list_comments": _card,
    "add_comment": _with(_card, text="Well."),
    "edit_comment": _with(_comment, text="Well, well."),
    "delete_comment": _comment,
    "list_boards": _nothing,
    "list_needs": _nothing,
    "start_board": _with(_nothing, name="New", template="pipeline"),
    "create_board": _with(_nothing, name="New"),
    "get_board": _board,
    "edit_board": _with(_board, name="Changed"),
    "archive_board": _board,
    "restore_board": _archived_board,
    "list_board_members": _board,
    "set_board_member": lambda world, by: {
        **_board(world, by),
        "handle": a_seat(world.workspace).handle,
        "role": "viewer",
    },
    "list_columns": _board,
    "create_column": _with(_board, name="New"),
    "get_column": _column,
    "edit_column": _with(_column, name="Changed"),
    "move_column": _with(_column, position="bottom"),
    "delete_column": _plain_column,
    "get_column_contract": _column,
    "set_column_contract": _with(_column, enabled=True),
    "list_agents": _nothing,
    "create_agent": _with(_nothing, handle="new-agent"),
    "get_agent": _agent,
    "edit_agent": _with(_agent, name="Changed"),
    "stop_agent": _busy_agent,
    "list_agent_figures": _nothing,
    "get_agent_figures": _agent,
    "list_tokens": _agent,
    "create_token": _with(_agent, name="New"),
    "revoke_token": _token,
    "list_events": _board,
    "list_findings": _nothing,
    "list_activity": _board,
    "list_people": _nothing,
    "create_person": _with(_nothing, username="new-person"),
    "add_person": _login_elsewhere,
    "get_person": _person,
    "edit_person": _with(_person, role="admin"),
    "get_sign_in_link": _person,
    "get_profile": _nothing,
    "edit_profile": _with(_nothing, name="Changed"),
    "list_my_tokens": _nothing,
    "create_my_token": _with(_nothing, name="New", scopes=["read"]),
    "revoke_my_token": _my_token,
    "list_workspaces": _nothing,
    "create_workspace": _with(_nothing, name="New"),
    "get_workspace": _workspace,
    "edit_workspace": _with(_workspace, name="Changed"),
    "get_me": _nothing,
    "list_my_leases": _nothing,
    "list_members": _nothing,
    **queue_recipes.RECIPES,
    **dead_letter_recipes.RECIPES,
    **tasks.RECIPES,
    **transfer.RECIPES,
    **_of_parts(),
}


def _ready(world: World) -> dict[str, Any]:
    world.add()
    return {}


def sent(operation: Operation, world: World, by: Caller | None) -> Sent:
    return Sent(RECIPES[operation.name](world, by))
