"""Workspaces: those of the caller, a further one, another name."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from accounts import reads
from accounts.callers import Caller
from accounts.errors import NotFound
from accounts.pages import Page
from accounts.shapes import WorkspaceShape
from accounts.told import told
from accounts.verbs import workspaces
from accounts.verbs.agents import Name
from accounts.verbs.workspaces import DEFAULT_KEY, MAX_KEY_CHARACTERS
from novum.operations.operation import Input, NoInput, Operation, Remembers


class CreateWorkspace(Input, frozen=True):
    name: Name
    key: Annotated[
        str,
        told(maxLength=MAX_KEY_CHARACTERS),
        Meta(description="What its cards are called after, such as NOV-12."),
    ] = DEFAULT_KEY


class WorkspaceInput(Input, frozen=True):
    workspace_id: UUID


class EditWorkspace(WorkspaceInput, frozen=True):
    name: Name


def list_workspaces(caller: Caller, given: NoInput) -> Page[WorkspaceShape]:
    return Page(reads.workspaces(caller))


def get_workspace(caller: Caller, given: WorkspaceInput) -> WorkspaceShape:
    return _workspace(caller, given.workspace_id)


def create_workspace(caller: Caller, given: CreateWorkspace) -> WorkspaceShape:
    """The caller owns it. A token is good for one workspace only: this one's are made
    on its own pages."""
    made = workspaces.create_workspace(caller, name=given.name, key=given.key)
    return _workspace(caller, made)


def edit_workspace(caller: Caller, given: EditWorkspace) -> WorkspaceShape:
    workspaces.edit_workspace(caller, workspace_id=given.workspace_id, name=given.name)
    return reads.workspace(caller)


def _workspace(caller: Caller, workspace_id: UUID) -> WorkspaceShape:
    for one in reads.workspaces(caller):
        if one.id == workspace_id:
            return one
    raise NotFound("You are a member of no such workspace.")


OPERATIONS = (
    Operation(
        name="list_workspaces",
        method="GET",
        path="/workspaces",
        summary="The workspaces of the person who calls; an agent has one.",
        input=NoInput,
        output=Page[WorkspaceShape],
        call=list_workspaces,
        scope="read",
        who="anybody",
    ),
    Operation(
        name="create_workspace",
        method="POST",
        path="/workspaces",
        summary="A further workspace, apart from all others.",
        input=CreateWorkspace,
        output=WorkspaceShape,
        call=create_workspace,
        scope="manage",
        who="admin",
        errors=("invalid",),
        status=201,
        remembers=Remembers(
            lambda made: [made.id],
            lambda caller, given, ids: _workspace(caller, ids[0]),
        ),
    ),
    Operation(
        name="get_workspace",
        method="GET",
        path="/workspaces/{workspace_id}",
        summary="One workspace of the caller.",
        input=WorkspaceInput,
        output=WorkspaceShape,
        call=get_workspace,
        scope="read",
        who="anybody",
    ),
    Operation(
        name="edit_workspace",
        method="PATCH",
        path="/workspaces/{workspace_id}",
        summary="Rename the caller's workspace.",
        input=EditWorkspace,
        output=WorkspaceShape,
        call=edit_workspace,
        scope="manage",
        who="admin",
        errors=("invalid",),
    ),
)
