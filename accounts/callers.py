"""Who is calling, as every verb and read gets it."""

from dataclasses import dataclass
from uuid import UUID

from accounts.errors import Forbidden
from accounts.roles import WorkspaceRole


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated actor in one workspace, with what its credential allows.

    `skills` are those of an agent's seat and its token together; `max_leases` is how
    many cards the seat may hold at once (None: any number).
    """

    workspace_id: UUID
    workspace_key: str
    actor_id: UUID
    kind: str
    handle: str
    name: str
    role: WorkspaceRole | None
    scopes: frozenset[str]
    token_id: UUID | None = None
    skills: frozenset[str] = frozenset()
    max_leases: int | None = None

    @property
    def credential_id(self) -> UUID:
        """The token, or the person themselves when they come by session."""
        return self.token_id or self.actor_id

    def is_admin(self) -> bool:
        return self.role is not None and self.role >= WorkspaceRole.ADMIN

    def require_scope(self, scope: str) -> None:
        if scope not in self.scopes:
            raise Forbidden(f"This token lacks the scope {scope!r}.", needs=scope)

    def require_admin(self) -> None:
        if not self.is_admin():
            raise Forbidden(
                "Only admins and owners of the workspace may do that.", needs="admin"
            )
