"""Every kind of caller, what the declarations promise each, and every stored row."""

from django.db import connection

from accounts import credentials
from accounts.callers import Caller
from accounts.roles import BoardRole, WorkspaceRole
from boards import access
from boards.verbs.boards import edit_board, set_board_member
from novum.operations.operation import Operation
from tests.builders import ALL_SCOPES, World, a_person, a_workspace, an_agent
from tests.doors.http import Http, token_of

BOARD_ROLES = {role.name.lower(): role for role in BoardRole}
REFUSED = {"not_found": 404, "forbidden": 403}


class Principal:
    """Somebody who asks; `role` on the board, None for those who can't see it."""

    def __init__(self, name, caller, role, scopes=ALL_SCOPES, *, ours=True):
        self.name, self.caller, self.role = name, caller, role
        self.scopes, self.ours = scopes, ours
        self.token = token_of(caller, scopes) if caller else ""
        self.door = Http(self.token)

    def may(self, operation: Operation) -> int:
        """The status that the declaration promises."""
        if self.caller is None:
            return 401
        if operation.scope not in self.scopes:
            return 403
        if operation.who in BOARD_ROLES:
            return self._on_the_board(BOARD_ROLES[operation.who], operation.status)
        if operation.who == "person" and self.caller.kind != "person":
            return 403
        if not self.ours and "{" in operation.path:
            return 404
        is_refused = operation.who == "admin" and not self.caller.is_admin()
        return 403 if is_refused else operation.status

    def _on_the_board(self, needed: BoardRole, status: int) -> int:
        if self.role is None:
            return 404
        return status if self.role >= needed else 403


def principals(world: World) -> list[Principal]:
    edit_board(world.owner, board_id=world.board, default_role=None)
    everybody = [
        Principal("anonymous", None, None),
        Principal("foreign owner", a_person(a_workspace()), None, ours=False),
        Principal("foreign agent", an_agent(a_workspace()), None, ours=False),
        Principal("owner", world.owner, BoardRole.MANAGER),
        Principal(
            "admin", a_person(world.workspace, WorkspaceRole.ADMIN), BoardRole.MANAGER
        ),
        Principal("outsider", _member(world), None),
        Principal("agent without a role", an_agent(world.workspace), None),
    ]
    for name, role in BOARD_ROLES.items():
        everybody.append(Principal(name, _named(world, _member(world), role), role))
        agent = _named(world, an_agent(world.workspace), role)
        everybody.append(Principal(f"{name} agent", agent, role))
    for scope in ALL_SCOPES:
        agent = _named(world, an_agent(world.workspace), BoardRole.MANAGER)
        everybody.append(
            Principal(f"agent to {scope}", agent, BoardRole.MANAGER, (scope,))
        )
    _named(world, world.worker, BoardRole.EDITOR)
    return everybody


def _member(world: World) -> Caller:
    return a_person(world.workspace, WorkspaceRole.MEMBER)


def _named(world: World, caller: Caller, role: BoardRole) -> Caller:
    set_board_member(world.owner, board_id=world.board, handle=caller.handle, role=role)
    return caller


def stored() -> dict[str, str]:
    """Every row of our tables, but for when a token was used last."""
    tables = [
        name
        for name in connection.introspection.table_names()
        if name.startswith(
            (
                "accounts_",
                "boards_",
                "leases_",
                "tasks_people_",
                "transfer_",
                "supervision_",
                "webhooks_",
            )
        )
    ]
    found = {}
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(
                "SELECT md5(string_agg(row, ' ' ORDER BY row)) FROM"
                f" (SELECT (to_jsonb(t) - 'last_used_at')::text AS row FROM {table} t) r"
            )
            found[table] = cursor.fetchone()[0]
    return found


def forget() -> None:
    """Look up tokens and roles anew."""
    credentials.forget_tokens()
    access.forget()
