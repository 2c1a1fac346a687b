"""The columns of a board without their cards, as they are pushed to open pages."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

import msgspec
from django.conf import settings
from django.template.loader import get_template

from leases.wall import ColumnView


class ColumnPatch(msgspec.Struct, frozen=True, omit_defaults=True):
    """`reread`: its cards may all look otherwise, also those behind the first ones."""

    id: UUID
    html: str
    reread: bool = False


class Layout(msgspec.Struct, frozen=True):
    """The columns from left to right; `switcher` is the list of them for phones."""

    name: str
    switcher: str
    columns: list[ColumnPatch]


def layout(name: str, heads: list[ColumnView], reread: Iterable[UUID]) -> Layout:
    """`heads` without cards. Those who may not add cards get the form for it as well:
    their page doesn't show it."""
    # Asked for here and not above: the loader wants settings.
    column: Any = get_template("boards/_column.html")
    switcher: Any = get_template("boards/_switcher.html")
    stale = set(reread)
    shared = {"wall": {"may_edit": True}, "api": settings.NOVUM_URL}
    return Layout(
        name,
        plain(switcher.render({"wall": {"columns": heads}})),
        [
            ColumnPatch(
                head.column.pk,
                plain(column.render({"column": head, **shared})),
                head.column.pk in stale,
            )
            for head in heads
        ],
    )


def plain(html: str) -> str:
    """Not marked as safe: what is so can't be encoded."""
    return str.__str__(html).strip()
