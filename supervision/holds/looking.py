"""Leases over all boards that the caller can see."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet, Value
from django.db.models.functions import Coalesce

from accounts.callers import Caller
from accounts.errors import NotFound
from accounts.pages import Page, cut_page, paged
from boards import access
from boards.shapes import card_key
from leases.models import Lease
from leases.reads import lease_shape, server_time
from supervision.holds.filtering import LeaseFilter, active, why_stuck
from supervision.holds.history import ended_ids
from supervision.holds.shapes import LeaseSeen, TokenRef
from supervision.needs.scope import Scope, scope
from supervision.needs.usual import Usual, too_long

STATES = ("active", "stuck", "ended")
_NEVER = datetime(9999, 1, 1, tzinfo=UTC)
_ACTIVE_ORDER, _ACTIVE_TYPES = ("lapses", "id"), tuple[datetime, UUID]


@paged
def seen_leases(
    caller: Caller,
    state: str,
    wanted: LeaseFilter,
    *,
    page_size: int,
    page_token: str,
) -> Page[LeaseSeen]:
    """`active` and `stuck`: the soonest to lapse first, those that never do last;
    `ended`: latest claimed first. Raises NotFound (the board), BadCursor."""
    seen = scope_of(caller, wanted)
    shape = _Shaper(caller, seen)
    if state == "ended":
        ids, token = ended_ids(
            seen.boards, wanted, page_size=page_size, page_token=page_token
        )
        rows = _shown(Lease.objects.filter(pk__in=ids)).order_by("-id")
        return Page([shape(row) for row in rows], token)
    if state == "stuck":
        wanted = LeaseFilter(**{**vars(wanted), "stuck": True})
    rows = active(caller, seen, wanted)
    lapses = Coalesce("expires_at", Value(_NEVER))
    return cut_page(
        _shown(rows).annotate(lapses=lapses),
        _ACTIVE_ORDER,
        _ACTIVE_TYPES,
        page_size,
        page_token,
        shape,
    )


def count_active(caller: Caller, wanted: LeaseFilter) -> tuple[int, int]:
    """How many match, and how many of those are stuck."""
    seen = scope_of(caller, wanted)
    stuck = LeaseFilter(**{**vars(wanted), "stuck": True})
    return active(caller, seen, wanted).count(), active(caller, seen, stuck).count()


def scope_of(caller: Caller, wanted: LeaseFilter) -> Scope:
    """Raises NotFound for a board that the caller can't see."""
    if wanted.board_id and not access.can_see(caller, wanted.board_id):
        raise NotFound("There is no such board here.")
    return scope(caller, board_id=wanted.board_id)


class _Shaper:
    """Rows as they're shown; what all of them need is asked for once."""

    def __init__(self, caller: Caller, seen: Scope) -> None:
        self._key = caller.workspace_key
        self._seen = seen
        self._now = server_time()
        self._slow: dict[UUID, Usual] | None = None

    def __call__(self, row: Lease) -> LeaseSeen:
        if self._slow is None:
            self._slow = {} if row.ended_at else too_long(self._seen.queues)
        place = self._seen.places.get(row.column_id)
        token = TokenRef(row.token.pk, row.token.name) if row.token else None
        known: dict[str, Any] = {
            name: getattr(shape, name)
            for shape in [lease_shape(row)]
            for name in shape.__struct_fields__
        }
        return LeaseSeen(
            **known,
            card_key=card_key(self._key, row.card.number),
            card_title=row.card.title,
            board=place.board if place else "",
            column=place.column if place else "",
            token=token,
            stuck=why_stuck(row, self._now, self._slow),
        )


def _shown(rows: QuerySet[Lease]) -> QuerySet[Lease]:
    """With what is shown, and nothing of what may be long."""
    return rows.select_related("holder", "token", "card").defer(
        "output",
        "card__description",
        "card__properties",
        "card__payload",
        "card__output",
        "card__misfit",
    )
