"""What is pushed to the pages of one board: changed cards and heads as HTML."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from django.db import DataError
from django.template.loader import get_template

from leases import changes, wall
from leases.changes import Change, Heartbeat
from leases.wall_filter import WallFilter
from novum.web import faces
from novum.web.layouts import Layout, layout, plain

# More than this in one look are shown over several looks.
CARDS_PER_FRAME = 200


class CardPatch(msgspec.Struct, frozen=True, omit_defaults=True):
    id: UUID
    column: UUID | None = None
    order: str = ""
    html: str = ""
    gone: bool = False


class HeadPatch(msgspec.Struct, frozen=True):
    id: UUID
    html: str


class LeasePatch(msgspec.Struct, frozen=True):
    id: UUID
    expires: datetime | None
    renewals: int


class Frame(msgspec.Struct, frozen=True, omit_defaults=True):
    """`cursor` is the moment up to which a page that has applied this is right.
    `resync`: too much to say, read the board anew, some time `within_ms`."""

    cursor: str
    server_time: datetime | None = None
    cards: list[CardPatch] = []
    heads: list[HeadPatch] = []
    leases: list[LeasePatch] = []
    layout: Layout | None = None
    resync: bool = False
    within_ms: int = 0


def resync(cursor: str) -> Frame:
    return Frame(cursor, resync=True)


@dataclass
class BoardFrames:
    """Gathers the changes of one board, and renders them once for everybody."""

    board_id: UUID
    workspace_id: UUID
    workspace_key: str
    now: datetime | None = None
    _cards: dict[UUID, None] = field(default_factory=dict)
    _heads: dict[UUID, str] | None = None
    _beats: dict[UUID, Heartbeat] | None = None
    _misfits: set[UUID] | None = None
    _doings: dict[UUID, str] | None = None
    _is_dirty: bool = False
    _was_dirty: bool = False
    _layout: bool = False
    _columns: set[UUID] = field(default_factory=set)
    _everything: bool = False

    def add(self, change: Change) -> None:
        self._is_dirty = self._was_dirty = True
        self._everything |= change.everything
        self._layout |= change.layout
        if change.column_id:
            self._columns.add(change.column_id)
        if change.card_id:
            self._cards[change.card_id] = None

    def add_everything(self) -> None:
        self._everything = True

    def next_frame(self, cursor: str, quiet: bool, alive: bool) -> Frame | None:
        """What there is to say now, if anything. `quiet`: look also for what no event
        tells; `alive`: say at least that we are still here."""
        leases = self._quiet() if quiet else []
        if quiet and self._was_dirty:
            self._tell_all_heads()
        if self._everything:
            self._cards.clear()
            self._columns.clear()
            self._is_dirty = self._layout = self._everything = False
            return resync(cursor)
        columns = self._layout_now() if self._layout else None
        heads = self._changed_heads() if self._is_dirty else []
        taken = list(self._cards)[:CARDS_PER_FRAME]
        cards = self._cards_now(taken)
        for card_id in taken:
            del self._cards[card_id]
        self._is_dirty = bool(self._cards)
        if not (cards or heads or leases or columns or alive):
            return None
        # While something is left, a page that goes now must come back to here.
        cursor = "" if self._cards else cursor
        return Frame(cursor, self.now, cards, heads, leases, columns)

    def catch_up(self, since: str) -> Frame:
        """What changed since a page was read, as one frame; always one, so that the
        page knows that it is connected."""
        try:
            found, moment = changes.since(
                since, workspaces=[self.workspace_id], boards=[self.board_id]
            )
        except DataError:
            return resync("")
        for change in found:
            self.add(change)
        self.now = moment.at
        most = len(self._cards) + len(self._columns) * wall.CARDS_PER_PAGE
        if self._everything or most > CARDS_PER_FRAME:
            return resync(moment.snapshot)
        frame = self.next_frame(moment.snapshot, quiet=False, alive=True)
        assert frame is not None
        return frame

    def _cards_now(self, ids: list[UUID]) -> list[CardPatch]:
        if not ids:
            return []
        shown = {
            view.card.pk: CardPatch(
                view.card.pk,
                view.card.column_id,
                view.order,
                plain(faces.html(view)),
            )
            for view in wall.card_views(self.workspace_key, ids)
            if view.card.board_id == self.board_id
        }
        return [shown.get(one) or CardPatch(one, gone=True) for one in ids]

    def _layout_now(self) -> Layout:
        self._cards |= dict.fromkeys(wall.first_ids(list(self._columns)))
        views = wall.column_views(self.board_id, WallFilter())
        shown = layout(wall.name(self.board_id), views, self._columns)
        self._columns.clear()
        self._layout = False
        return shown

    def _changed_heads(self) -> list[HeadPatch]:
        template: Any = get_template("boards/_column_head.html")
        fresh = {
            view.column.pk: plain(template.render({"column": view}))
            for view in wall.column_views(self.board_id, WallFilter())
        }
        known, self._heads = self._heads or {}, fresh
        return [
            HeadPatch(one, html)
            for one, html in fresh.items()
            if known.get(one) != html
        ]

    def _tell_all_heads(self) -> None:
        # A count that went down and up again between two looks has not changed for us,
        # but it has for a page that was read in between.
        self._heads = None
        self._is_dirty, self._was_dirty = True, False

    def _quiet(self) -> list[LeasePatch]:
        misfits = set(changes.misfits([self.board_id]))
        if self._misfits is not None and misfits != self._misfits:
            self._is_dirty = True
            self._cards |= dict.fromkeys(misfits ^ self._misfits)
        self._misfits = misfits
        doings = changes.doings([self.board_id])
        if self._doings is not None:
            changed = doings.items() ^ self._doings.items()
            self._cards |= dict.fromkeys(card for card, _ in changed)
        self._doings = doings
        beats = {one.lease_id: one for one in changes.heartbeats([self.board_id])}
        known, self._beats = self._beats, beats
        return [
            LeasePatch(one.lease_id, one.expires_at, one.renewals)
            for one in beats.values()
            if known is None or known.get(one.lease_id) != one
        ]
