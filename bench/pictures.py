"""What an open page of a board shows, kept right by what the server pushes.

It follows static/js/patch.js: cards behind the last one that was loaded aren't shown,
and what is older than what is shown changes nothing.
"""

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import msgspec

_COLUMN = re.compile(r'<ol class="cards" data-cards="([^"]+)".*?</ol>', re.S)
_CARD = re.compile(r'<li class="card .*?</li>', re.S)
_MORE = re.compile(r'data-more data-order="([^"]+)"')
_FACT = re.compile(r'data-(card|order|version|shade|lease)="([^"]*)"')
_HEAD = re.compile(r'data-head="([^"]+)".*?data-count[^>]*>(\d+)', re.S)
_NAMED = re.compile(r'data-column="([^"]+)".*?<h2[^>]*>([^<]*)</h2>', re.S)
_MOMENT = re.compile(r'data-snapshot="([^"]+)"')


@dataclass(frozen=True)
class Shown:
    """A card as it stands somewhere."""

    column: str
    order: str
    version: int
    shade: str
    lease: str


@dataclass(frozen=True)
class Pushed:
    """A frame, read once for all who get it. A card that has gone is None; `columns`
    are named from left to right where they have changed."""

    cursor: str
    resync: bool
    cards: tuple[tuple[str, Shown | None], ...]
    counts: dict[str, int]
    columns: tuple[tuple[str, str], ...] = ()


@dataclass
class Picture:
    """`ends` says behind which place a column goes on without being loaded."""

    cursor: str
    cards: dict[str, Shown]
    ends: dict[str, str]
    counts: dict[str, int] = field(default_factory=dict)
    columns: tuple[tuple[str, str], ...] = ()

    def apply(self, pushed: Pushed) -> None:
        self.cursor = pushed.cursor or self.cursor
        self.columns = pushed.columns or self.columns
        self.counts |= pushed.counts
        for card, now in pushed.cards:
            before = self.cards.get(card)
            if now is None or not self._loaded(now):
                self.cards.pop(card, None)
            elif before is None or before.version <= now.version:
                self.cards[card] = now

    def differences(self, truth: "Picture") -> list[str]:
        """What a look at the server shows otherwise, of what this page has loaded."""
        right = {card: one for card, one in truth.cards.items() if self._loaded(one)}
        cards = right.keys() | self.cards.keys()
        wrong = [card for card in cards if right.get(card) != self.cards.get(card)]
        columns = [
            column
            for column, count in truth.counts.items()
            if self.counts.get(column) != count
        ]
        if self.columns != truth.columns:
            columns.append("the columns")
        return wrong + columns

    def copy(self) -> "Picture":
        return replace(self, cards=dict(self.cards), counts=dict(self.counts))

    def _loaded(self, card: Shown) -> bool:
        end = self.ends.get(card.column)
        return end is None or card.order <= end


def picture_of(page: str) -> Picture:
    """From the HTML of a board's page."""
    moment = _MOMENT.search(page)
    assert moment, "this is no board"
    picture = Picture(moment[1], {}, {}, _counts(page), tuple(_NAMED.findall(page)))
    for column in _COLUMN.finditer(page):
        if more := _MORE.search(column[0]):
            picture.ends[column[1]] = more[1]
        for card in _CARD.finditer(column[0]):
            name, shown = _card(column[1], card[0])
            picture.cards[name] = shown
    return picture


# All who get one frame get the same bytes.
@lru_cache(maxsize=64)
def pushed(text: bytes) -> Pushed:
    frame: dict[str, Any] = msgspec.json.decode(text)
    cards = []
    for patch in frame.get("cards", ()):
        html, column = patch.get("html"), patch.get("column")
        now = _card(column, html)[1] if html else None
        cards.append((patch["id"], now))
    counts: dict[str, int] = {}
    for head in frame.get("heads", ()):
        counts |= _counts(head["html"])
    resync = frame.get("resync", False)
    layout = (frame.get("layout") or {}).get("columns", ())
    shells = "".join(one["html"] for one in layout)
    counts |= _counts(shells)
    columns = tuple(_NAMED.findall(shells))
    return Pushed(frame["cursor"], resync, tuple(cards), counts, columns)


def _card(column: str, html: str) -> tuple[str, Shown]:
    facts = dict(_FACT.findall(html))
    order, version = facts["order"], int(facts["version"])
    lease = facts.get("lease", "")
    return facts["card"], Shown(column, order, version, facts["shade"], lease)


def _counts(html: str) -> dict[str, int]:
    return {column: int(count) for column, count in _HEAD.findall(html)}
