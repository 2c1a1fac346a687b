"""Who is there: the caller, agents, tokens, members."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import F, Max

from accounts import shapes
from accounts.callers import Caller
from accounts.errors import NotFound
from accounts.models import Actor, User, WorkerToken, Workspace
from accounts.pages import Page, cut_page, paged
from accounts.shapes import (
    AgentShape,
    MemberShape,
    PersonShape,
    TokenShape,
    WorkspaceShape,
)


def is_set_up() -> bool:
    """Whether there is anybody who could sign in."""
    return User.objects.exists()


def workspace(caller: Caller) -> WorkspaceShape:
    return shapes.workspace(Workspace.objects.get(pk=caller.workspace_id))


def workspaces_of(user: Any) -> list[WorkspaceShape]:
    """Those in which the signed-in person is an enabled member."""
    actors = Actor.objects.enabled().filter(user=user).select_related("workspace")
    return [shapes.workspace(row.workspace) for row in actors.order_by("created_at")]


def workspaces(caller: Caller) -> list[WorkspaceShape]:
    """Those of the person who calls; of an agent the one where its seat is."""
    user_id = Actor.objects.values_list("user_id", flat=True).get(pk=caller.actor_id)
    return workspaces_of(user_id) if user_id else [workspace(caller)]


@paged
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


@paged
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


@paged
def members(caller: Caller, *, page_size: int, page_token: str) -> Page[MemberShape]:
    """People and agents: whom a card can be assigned to."""
    rows = Actor.objects.in_workspace(caller.workspace_id)
    return cut_page(rows, ("id",), tuple[UUID], page_size, page_token, shapes.member)


@paged
def people(caller: Caller, *, page_size: int, page_token: str) -> Page[PersonShape]:
    """The people of the workspace, owners first; how they sign in for admins only."""
    rows = Actor.objects.in_workspace(caller.workspace_id).select_related("user")

    def shape(row: Actor) -> PersonShape:
        return shapes.person(row, private=caller.is_admin())

    rows = rows.filter(kind=Actor.Kind.PERSON)
    order, types = ("-role", "-id"), tuple[int, UUID]
    return cut_page(rows, order, types, page_size, page_token, shape)


def person(caller: Caller, *, person_id: UUID) -> PersonShape:
    """Raises NotFound."""
    rows = Actor.objects.in_workspace(caller.workspace_id).select_related("user")
    row = rows.filter(pk=person_id, kind=Actor.Kind.PERSON).first()
    if row is None:
        raise NotFound("There is no such person here.")
    return shapes.person(row, private=caller.is_admin())


def me(caller: Caller) -> PersonShape:
    """The caller's own profile. Raises NotFound for agents."""
    rows = Actor.objects.select_related("user").filter(kind=Actor.Kind.PERSON)
    row = rows.filter(pk=caller.actor_id).first()
    if row is None:
        raise NotFound("Only people have a profile.")
    return shapes.person(row, private=True)


def my_tokens(caller: Caller) -> list[TokenShape]:
    """The caller's personal tokens, those in force first, latest first."""
    rows = WorkerToken.objects.filter(actor_id=caller.actor_id)
    return [
        shapes.token(row)
        for row in rows.order_by(F("revoked_at").desc(nulls_first=True), "-id")
    ]


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
