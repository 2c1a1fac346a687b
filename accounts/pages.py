"""Cursor pages (AIP-158): stable order, an opaque token, empty when at the end."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Any

import msgspec
from django.db.models import Model, Q, QuerySet

from accounts.errors import DomainError

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 200


class BadCursor(DomainError):
    """That cursor isn't one of ours. Take it as it came, or leave it out."""

    code = "bad_cursor"


class Page[T](msgspec.Struct, frozen=True):
    """One page; ask again with `next_page_token` until it's empty."""

    items: list[T]
    next_page_token: str = ""


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
    size = min(page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
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
