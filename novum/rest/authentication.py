"""Who calls by REST: a bearer token, or the page's own session."""

from typing import Any
from uuid import UUID

from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.request import Request

from accounts.callers import Caller
from accounts.credentials import caller_of_user
from novum.incoming import caller_by_bearer

WORKSPACE_KEY = "workspace"


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer nvma_…`; never in a URL."""

    def authenticate(self, request: Request) -> tuple[Caller, str] | None:
        if not request.META.get("HTTP_AUTHORIZATION"):
            return None
        return caller_by_bearer(request._request), "bearer"

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="novum"'


class PageSessionAuthentication(SessionAuthentication):
    """A signed-in person, with CSRF protection, in the workspace they have chosen."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        plain: Any = request._request
        user: Any = getattr(plain, "user", None)
        if user is None or not user.is_active:
            return None
        # Read now, because the check may look for its token in a form, and after that
        # the body of one could not be had any more.
        _ = plain.body
        self.enforce_csrf(plain)
        chosen = plain.session.get(WORKSPACE_KEY)
        return caller_of_user(user, UUID(chosen) if chosen else None), "session"
