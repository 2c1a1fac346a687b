"""Who is there: the caller, agents, tokens, members."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Max

from accounts import shapes
from accounts.callers import Caller
from accounts.errors import NotFound
from accounts.models import Actor, WorkerToken, Workspace
from accounts.pages import Page, cut_page
from accounts.shapes import AgentShape, MemberShape, TokenShape, WorkspaceShape


def workspace(caller: Caller) -> WorkspaceShape:
    return shapes.workspace(Workspace.objects.get(pk=caller.workspace_id))


def workspaces_of(user: Any) -> list[WorkspaceShape]:
    """Those in which the signed-in person is an enabled member."""
    actors = Actor.objects.enabled().filter(user=user).select_related("workspace")
    return [shapes.workspace(row.workspace) for row in actors.order_by("created_at")]


def agents(caller: Caller, *, page_size: int, page_token: str) -> Page[AgentShape]:
    """The workspace's agent seats."""
    rows = Actor.objects.in_workspace(caller.workspace_id).agents()
    seen = dict(
        WorkerToken.objects.filter(workspace_id=caller.workspace_id)
        .values_list("actor_id")
        .annotate(seen=Max("last_used_at"))
    )

    def shape(row: Actor) -> AgentShape:
        return shapes.agent(row, seen.get(row.pk))

    return cut_page(rows, ("id",), tuple[UUID], page_size, page_token, shape)


def agent(caller: Caller, *, agent_id: UUID) -> AgentShape:
    """Raises NotFound."""
    row = _agent(caller, agent_id)
    seen = row.tokens.aggregate(seen=Max("last_used_at"))["seen"]
    return shapes.agent(row, seen)


def tokens(
    caller: Caller, *, agent_id: UUID, page_size: int, page_token: str
) -> Page[TokenShape]:
    """A seat's tokens, without their secrets. Admins. Raises NotFound, Forbidden."""
    rows = _agent(caller, agent_id).tokens.all()
    caller.require_admin()
    return cut_page(rows, ("id",), tuple[UUID], page_size, page_token, shapes.token)


def tokens_by_ids(caller: Caller, ids: Iterable[UUID]) -> list[TokenShape]:
    rows = WorkerToken.objects.filter(pk__in=ids, workspace_id=caller.workspace_id)
    return [shapes.token(row) for row in rows]


def members(caller: Caller, *, page_size: int, page_token: str) -> Page[MemberShape]:
    """People and agents: whom a card can be assigned to."""
    rows = Actor.objects.in_workspace(caller.workspace_id)
    return cut_page(rows, ("id",), tuple[UUID], page_size, page_token, shapes.member)


def _agent(caller: Caller, agent_id: UUID) -> Actor:
    found = (
        Actor.objects.in_workspace(caller.workspace_id)
        .agents()
        .filter(pk=agent_id)
        .first()
    )
    if found is None:
        raise NotFound("There is no such agent here.")
    return found
