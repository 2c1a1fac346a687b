"""Cursor pages (AIP-158): stable order, an opaque token, empty when at the end.

A token belongs to one walk through one list: whoever asks for the next page asks for the
same, but for the size of the page. In front of the cursor, the place in the list, a token
has a mark of what was asked for; a cursor alone (the feed's) is bound to nothing.
"""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import Any, Self

import msgspec
from django.db.models import Model, Q, QuerySet

from accounts.errors import DomainError, Invalid

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 200


class BadCursor(DomainError):
    """That cursor isn't one of ours. Take it as it came, or leave it out."""

    code = "bad_cursor"


class BadPageSize(Invalid):
    """A page can't have a negative number of items."""


def size_of(page_size: int) -> int:
    """How many items a page has. Raises BadPageSize for fewer than none."""
    if page_size < 0:
        raise BadPageSize.at("/page_size", "out_of_range", "Say 0 or more.")
    return min(page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)


class Page[T](msgspec.Struct, frozen=True):
    """One page; ask again with `next_page_token` until it's empty."""

    items: list[T]
    next_page_token: str = ""


# Nine bytes are twelve characters, without padding.
_MARK_BYTES, _MARK_LENGTH = 9, 12


@dataclass(frozen=True)
class Walk:
    """Through one list, with everything that was asked for but the page."""

    mark: str

    @classmethod
    def through(cls, name: str, *asked: Any) -> Self:
        text = msgspec.json.encode([name, asked], order="deterministic")
        mark = hashlib.sha256(text).digest()[:_MARK_BYTES]
        return cls(urlsafe_b64encode(mark).decode())

    def token(self, cursor: str) -> str:
        """Empty for no cursor."""
        return self.mark + cursor if cursor else ""

    def cursor(self, token: str) -> str:
        """Raises BadCursor for the token of another walk."""
        if not token:
            return ""
        if token[:_MARK_LENGTH] != self.mark or len(token) == _MARK_LENGTH:
            raise BadCursor(
                "That page token isn't one of this list with these filters. Go on with"
                " what you began with, or leave it out."
            )
        return token[_MARK_LENGTH:]


def paged[**P, T: Page[Any]](read: Callable[P, T]) -> Callable[P, T]:
    """For a read that is given a `page_size` and a `page_token`: its tokens are taken by
    this read alone, and only with the other arguments as they were. Whose walk it is
    doesn't matter: what may be seen is looked up anew for every page.

    The read raises BadCursor then."""
    name, parameters = f"{read.__module__}.{read.__qualname__}", signature(read)

    @wraps(read)
    def bound(*args: P.args, **kwargs: P.kwargs) -> T:
        call = parameters.bind(*args, **kwargs)
        call.apply_defaults()
        given = call.arguments
        walk = Walk.through(name, {k: v for k, v in given.items() if k not in _FREE})
        given["page_token"] = walk.cursor(given["page_token"])
        page = read(*call.args, **call.kwargs)
        token = walk.token(page.next_page_token)
        return msgspec.structs.replace(page, next_page_token=token)

    return bound


_FREE = ("caller", "page_size", "page_token")


def encode_cursor(*parts: Any) -> str:
    return urlsafe_b64encode(msgspec.json.encode(parts)).decode().rstrip("=")


def decode_cursor[T](token: str, type: type[T]) -> T:
    """Raises BadCursor."""
    try:
        raw = urlsafe_b64decode(token.encode("ascii") + b"=" * (-len(token) % 4))
        return msgspec.json.decode(raw, type=type)
    except (ValueError, msgspec.MsgspecError):
        raise BadCursor from None


def cut_page[Row: Model, T](
    rows: QuerySet[Row],
    order: tuple[str, ...],
    types: type[tuple[Any, ...]],
    page_size: int,
    page_token: str,
    shape: Callable[[Row], T],
) -> Page[T]:
    """The page after `page_token` in the total order `order` (all up or all down)."""
    size = size_of(page_size)
    fields = [field.lstrip("-") for field in order]
    if page_token:
        rows = rows.filter(_after(order, decode_cursor(page_token, types)))
    found = list(rows.order_by(*order)[: size + 1])
    token = ""
    if len(found) > size:
        found.pop()
        token = encode_cursor(*(getattr(found[-1], field) for field in fields))
    return Page([shape(row) for row in found], token)


def _after(order: tuple[str, ...], last: tuple[Any, ...]) -> Q:
    """Behind `last` in the order: greater in the first field that differs."""
    test = "lt" if order[0].startswith("-") else "gt"
    fields = [field.lstrip("-") for field in order]
    behind, equal = Q(), Q()
    for field, value in zip(fields, last, strict=True):
        behind |= equal & Q(**{f"{field}__{test}": value})
        equal &= Q(**{field: value})
    # Implied by the rest, and what an index can start from.
    return Q(**{f"{fields[0]}__{test}e": last[0]}) & behind
