"""A board of Trello (menu > print, export and share > JSON) as a document.

Trello's file has no promise of its form, and ten years of it are around: whatever is
missing, null or of another kind counts as not there.
"""

from collections import Counter, defaultdict
from datetime import UTC, datetime
from typing import Any

from accounts.callers import Caller
from accounts.errors import Invalid
from boards.verbs.comments import MAX_COMMENT_CHARACTERS
from boards.verbs.fields import MAX_LABEL_CHARACTERS
from boards.verbs.text import MAX_NAME_CHARACTERS, MAX_TITLE_CHARACTERS
from transfer.checking import card_fields
from transfer.files.cells import moment_of
from transfer.files.known import LONG_LABELS, LONG_TITLES, Known
from transfer.files.reading import Reading
from transfer.files.trello_parts import (
    age_of,
    described,
    field_values,
    ids,
    items,
    left_behind,
    place_of,
    text,
)
from transfer.models import ImportRun
from transfer.shapes import (
    BoardDocument,
    BoardPart,
    CardPart,
    ColumnPart,
    CommentPart,
    Skipped,
)

NO_LIST = "Without a list"


def read_trello(caller: Caller, value: dict[str, Any]) -> Reading:
    board = _Board(caller, value)
    for card in sorted(items(value, "cards"), key=board.rank):
        board.take(card)
    return Reading(
        ImportRun.Kind.TRELLO,
        board.document(),
        len(items(value, "cards")),
        board.rows,
        board.skipped,
        board.notes(),
    )


class _Board:
    """One file on its way into a document."""

    def __init__(self, caller: Caller, value: dict[str, Any]) -> None:
        self._caller, self._value = caller, value
        self._known = Known(caller)
        self._met: Counter[str] = Counter()
        self._lists = sorted(items(value, "lists"), key=place_of)
        self._places = {text(one, "id"): i for i, one in enumerate(self._lists)}
        self._order = {id(card): i for i, card in enumerate(items(value, "cards"), 1)}
        self._members = {text(one, "id"): one for one in items(value, "members")}
        self._labels = {text(one, "id"): one for one in items(value, "labels")}
        self._fields = {text(one, "id"): one for one in items(value, "customFields")}
        self._checklists = _by(items(value, "checklists"), "idCard")
        self._comments = _comments(value)
        self._cards: list[CardPart] = []
        self.rows: list[int] = []
        self.skipped: list[Skipped] = []

    def rank(self, card: dict[str, Any]) -> tuple[int, float, int]:
        return (self._column(card), place_of(card), self._order[id(card)])

    def _column(self, card: dict[str, Any]) -> int:
        return self._places.get(text(card, "idList"), len(self._lists))

    def document(self) -> BoardDocument:
        columns = [self._column_part(one) for one in self._lists]
        if any(card.column == len(columns) for card in self._cards) or not columns:
            columns.append(ColumnPart(name=NO_LIST))
        name = " ".join(text(self._value, "name").split())[:MAX_NAME_CHARACTERS]
        return BoardDocument(
            board=BoardPart(
                name=name or "Trello",
                description=text(self._value, "desc"),
                default_role="editor",
            ),
            columns=columns,
            cards=self._cards,
        )

    def _column_part(self, one: dict[str, Any]) -> ColumnPart:
        name = " ".join(text(one, "name").split())
        if len(name) > MAX_NAME_CHARACTERS:
            self._met["Names of lists cut to 100 characters"] += 1
        return ColumnPart(
            name=name[:MAX_NAME_CHARACTERS] or "List",
            archived_at=self._gone(one),
            created_at=age_of(one),
        )

    def _gone(self, one: dict[str, Any]) -> datetime | None:
        if one.get("closed") is not True:
            return None
        return moment_of(text(one, "dateLastActivity"), "dmy") or datetime.now(UTC)

    def take(self, card: dict[str, Any]) -> None:
        row = self._order[id(card)]
        title = " ".join(text(card, "name").split())
        try:
            part = self._card(card, title)
            card_fields(self._caller, part, "")
        except Invalid as error:
            place = error.errors[0].pointer.strip("/") if error.errors else ""
            reason = f"{place or 'the card'}: {error.detail}"
            self.skipped.append(Skipped(row, title[:200], reason))
        else:
            self._cards.append(part)
            self.rows.append(row)
            self._met.update(left_behind(card))

    def _card(self, card: dict[str, Any], title: str) -> CardPart:
        key = text(card, "id")
        checklists = self._checklists[key] or items(card, "checklists")
        description = described(card, checklists)
        if len(title) > MAX_TITLE_CHARACTERS:
            self._met[LONG_TITLES] += 1
            description = f"{title}\n\n{description}".rstrip()
            title = title[: MAX_TITLE_CHARACTERS - 1] + "…"
        handle, extra = self._people(card)
        due, faulty = self._due(card)
        properties = {
            **field_values(card, self._fields),
            **extra,
            **faulty,
            **({"start": text(card, "start")} if text(card, "start") else {}),
            **({"trello": url} if (url := text(card, "shortUrl")) else {}),
        }
        place = self._column(card)
        gone = self._gone(card)
        if place < len(self._lists):
            gone = gone or self._gone(self._lists[place])
        return CardPart(
            column=place,
            title=title,
            description=description,
            labels=self._labels_of(card),
            assignee=handle,
            due=due,
            properties=properties,
            state="done" if card.get("dueComplete") is True else "",
            created_by=self._caller.handle,
            created_at=age_of(card),
            updated_at=moment_of(text(card, "dateLastActivity"), "dmy"),
            archived_at=gone,
            comments=[self._comment(one) for one in self._comments[key]],
        )

    def _due(self, card: dict[str, Any]) -> tuple[datetime | None, dict[str, str]]:
        told = text(card, "due")
        due = moment_of(told, "dmy") if told else None
        if told and due is None:
            self._met["Due dates that are none, kept as properties"] += 1
            return None, {"due": told}
        return due, {}

    def _people(self, card: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
        """Who of the card's members is here takes it; the others stand beside."""
        named = [self._members.get(one, {}) for one in ids(card, "idMembers")]
        words = [
            word
            for one in named
            for word in (text(one, "username"), text(one, "fullName"))
        ]
        handle = self._known.handle(words) if words else None
        shown = [text(one, "fullName") or text(one, "username") for one in named]
        shown = [one for one in shown if one]
        is_told = handle is not None and len(shown) == 1
        return handle, {} if is_told or not shown else {"members": shown}

    def _labels_of(self, card: dict[str, Any]) -> list[str]:
        """Labels without a name are named by their colour."""
        rows = [
            self._labels[one] for one in ids(card, "idLabels") if one in self._labels
        ] or items(card, "labels")
        found = []
        for one in rows:
            name = " ".join((text(one, "name") or text(one, "color")).split())
            if len(name) > MAX_LABEL_CHARACTERS:
                self._met[LONG_LABELS] += 1
            if name:
                found.append(name[:MAX_LABEL_CHARACTERS].strip())
        return list(dict.fromkeys(found))

    def _comment(self, action: dict[str, Any]) -> CommentPart:
        """By its author if they are here, else by whoever imports it, saying whose."""
        author = action.get("memberCreator")
        member = author if isinstance(author, dict) else {}
        words = [text(member, "username"), text(member, "fullName")]
        handle = self._known.handle(words)
        said = text(action.get("data"), "text")
        if handle is None:
            who = words[1] or words[0] or "Somebody"
            said = f"**{who}** (in Trello):\n\n{said}"
        if len(said) > MAX_COMMENT_CHARACTERS:
            self._met["Comments cut to 20,000 characters"] += 1
            said = said[: MAX_COMMENT_CHARACTERS - 1] + "…"
        return CommentPart(
            author=handle or self._caller.handle,
            text=said,
            created_at=moment_of(text(action, "date"), "dmy"),
        )

    def notes(self) -> list[str]:
        lists = sum(1 for one in self._lists if one.get("closed") is True)
        cards = sum(1 for one in self._cards if one.archived_at)
        gone = f"Archived there and here: {lists} lists, {cards} cards."
        return [
            *([gone] if lists or cards else []),
            *self._known.notes(),
            *self._missing_comments(),
            *(f"{what}: {count}." for what, count in sorted(self._met.items())),
            *self._history(),
        ]

    def _missing_comments(self) -> list[str]:
        """Trello exports the latest 1,000 actions of a board only."""
        told = sum(
            _number(card.get("badges"), "comments")
            for card in items(self._value, "cards")
        )
        there = sum(len(found) for found in self._comments.values())
        if told <= there:
            return []
        return [
            f"{told - there} older comments are not in the file: Trello exports the"
            " latest 1,000 actions only."
        ]

    def _history(self) -> list[str]:
        actions = items(self._value, "actions")
        others = sum(1 for one in actions if text(one, "type") not in _COMMENTS)
        if not others:
            return []
        return [f"{others} entries of Trello's history (moves, edits) are not carried."]


_COMMENTS = ("commentCard", "copyCommentCard")


def _comments(value: dict[str, Any]) -> defaultdict[str, list[dict[str, Any]]]:
    """Oldest first; empty ones are none."""
    found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    said = [one for one in items(value, "actions") if text(one, "type") in _COMMENTS]
    for action in sorted(said, key=lambda one: text(one, "date")):
        data = action.get("data")
        card = data.get("card") if isinstance(data, dict) else None
        if text(data, "text").strip():
            found[text(card, "id")].append(action)
    return found


def _by(rows: list[dict[str, Any]], name: str) -> defaultdict[str, list[Any]]:
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for row in rows:
        found[text(row, name)].append(row)
    return found


def _number(value: Any, name: str) -> int:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, int) and found > 0 else 0
