"""Errors of the domain: a stable `code`, a sentence, and facts to go on with.

The docstring of a class is its default sentence. Doors translate by class
(`novum.problems`), never by text.
"""

from typing import Any

import msgspec


class FieldError(msgspec.Struct, frozen=True):
    """One thing wrong with the input; `pointer` is a JSON Pointer (RFC 6901)."""

    pointer: str
    code: str
    detail: str


class DomainError(Exception):
    """That isn't possible."""

    code = "error"

    def __init__(self, detail: str = "", **facts: Any) -> None:
        self.detail = detail or (type(self).__doc__ or "").strip().splitlines()[0]
        self.facts = facts
        super().__init__(self.detail)


class NotFound(DomainError):
    """There is no such thing here, or you may not see it."""

    code = "not_found"


class Unauthenticated(DomainError):
    """Send a valid token: `Authorization: Bearer nvma_…`."""

    code = "unauthenticated"


class Forbidden(DomainError):
    """You may see this, but not do that."""

    code = "forbidden"


class Policy(msgspec.Struct, frozen=True):
    """A limit under the name by which it's told: so many `unit` in each
    `window_seconds`; None: at one time."""

    name: str
    quota: int
    window_seconds: int | None = None
    unit: str = "requests"


class TooManyRequests(DomainError):
    """Too many requests. Wait as long as Retry-After says."""

    code = "rate_limited"

    def __init__(self, policy: Policy, *, retry_after_seconds: int) -> None:
        super().__init__(retry_after_seconds=retry_after_seconds)
        self.policy = policy
        self.retry_after_seconds = retry_after_seconds


class Conflict(DomainError):
    """The present state doesn't allow that."""

    code = "conflict"


class Invalid(DomainError):
    """Some of the input doesn't fit."""

    code = "invalid"

    def __init__(
        self, detail: str = "", errors: list[FieldError] | None = None, **facts: Any
    ) -> None:
        super().__init__(detail, **facts)
        self.errors = errors or []

    @classmethod
    def at(cls, pointer: str, code: str, detail: str) -> "Invalid":
        return cls(detail, [FieldError(pointer, code, detail)])
