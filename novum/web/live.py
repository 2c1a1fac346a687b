"""The board's socket, at /live/boards/<id>: who may listen, and until when."""

from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.sessions.models import Session
from django.utils.crypto import constant_time_compare
from django.utils.timezone import now

from accounts.credentials import caller_of_user
from accounts.errors import DomainError
from accounts.roles import BoardRole
from boards import access
from boards.watching import roles_now
from novum.web.hub import Hub, Viewer
from novum.web.pages import WORKSPACE_KEY

NO_SESSION = 4401
NO_LONGER_MEMBER = 4403
# The page offers what its role of then could do: it's to be loaded anew.
OTHER_ROLE = 4409


class BoardSocket(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Sends frames, reads nothing."""

    viewer: Viewer | None = None

    async def connect(self) -> None:
        # Accepted before it is refused: only so does the page get to see the code.
        await self.accept()
        found = await database_sync_to_async(self._viewer)()
        if isinstance(found, int):
            await self.close(found)
            return
        self.viewer = found
        await hub.join(found)
        await hub.catch_up(found, self._asked("since"))

    async def disconnect(self, code: int) -> None:
        if self.viewer:
            hub.leave(self.viewer)

    async def receive(self, text_data: Any = None, bytes_data: Any = None) -> None:
        """Whatever a page says here, it's nothing that we listen to."""

    def _asked(self, name: str) -> str:
        text: str = self.scope["query_string"].decode("ascii", "replace")
        query = parse_qs(text)
        return query.get(name, [""])[0]

    def _viewer(self) -> Viewer | int:
        """Or the code to close with."""
        session, user = self.scope["session"], self.scope["user"]
        if not user.is_authenticated:
            return NO_SESSION
        board_id: UUID = self.scope["url_route"]["kwargs"]["board_id"]
        chosen = session.get(WORKSPACE_KEY)
        try:
            caller = caller_of_user(user, UUID(chosen) if chosen else None)
            access.require(caller, board_id, BoardRole.VIEWER)
        except DomainError:
            return NO_LONGER_MEMBER
        return Viewer(
            board_id=board_id,
            workspace_id=caller.workspace_id,
            workspace_key=caller.workspace_key,
            actor_id=caller.actor_id,
            session_key=session.session_key,
            role=self._asked("role"),
            send=self._send,
            close=self.close,
        )

    async def _send(self, text: str) -> None:
        await self.send(text_data=text)


def to_close(viewers: list[Viewer]) -> dict[Viewer, int]:
    """Those who are signed out, no longer members or others than their page takes them
    for, with the code that says so. A few statements, however many they are."""
    sessions = sessions_now({viewer.session_key for viewer in viewers})
    roles = roles_now((viewer.actor_id, viewer.board_id) for viewer in viewers)
    found = {}
    for viewer in viewers:
        role = roles.get((viewer.actor_id, viewer.board_id))
        if viewer.session_key not in sessions:
            found[viewer] = NO_SESSION
        elif role is None:
            found[viewer] = NO_LONGER_MEMBER
        elif viewer.role and viewer.role != str(role.value):
            found[viewer] = OTHER_ROLE
    return found


def sessions_now(keys: set[str]) -> set[str]:
    """Of these, the sessions that still sign somebody in (as `auth.get_user` has it)."""
    rows = Session.objects.filter(session_key__in=keys, expire_date__gt=now())
    data = {row.session_key: row.get_decoded() for row in rows}
    ids = {one[SESSION_KEY] for one in data.values() if SESSION_KEY in one}
    users = {
        str(user.pk): user
        for user in get_user_model().objects.filter(pk__in=ids, is_active=True)
    }
    return {key for key, one in data.items() if _signs_in(one, users)}


def _signs_in(data: dict[str, Any], users: dict[str, Any]) -> bool:
    user = users.get(data.get(SESSION_KEY, ""))
    proof = data.get(HASH_SESSION_KEY, "")
    if user is None:
        return False
    hashes = [user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()]
    return any(constant_time_compare(proof, one) for one in hashes)


hub = Hub(to_close)
