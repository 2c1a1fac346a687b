"""A table as a document: each row a card."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.utils.timezone import now

from accounts.callers import Caller
from accounts.errors import Invalid
from boards.verbs.fields import MAX_LABEL_CHARACTERS
from boards.verbs.text import MAX_NAME_CHARACTERS, MAX_TITLE_CHARACTERS
from transfer.checking import card_fields
from transfer.files import cells
from transfer.files.known import LONG_LABELS, LONG_TITLES, Known
from transfer.files.options import Options, Role
from transfer.files.reading import Reading
from transfer.files.roles import has_header, roles_of, unique
from transfer.files.tables import Row, Table, table_of
from transfer.files.text import Text
from transfer.files.todoist import flattened
from transfer.models import ImportRun
from transfer.shapes import BoardDocument, BoardPart, CardPart, ColumnPart, Skipped
from transfer.shapes import TableColumn as ShownColumn

NO_LIST = "Imported"
_SAMPLES, _SAMPLE_CHARACTERS = 3, 60
_ONCE: tuple[Role, ...] = (
    *("title", "description", "list", "due", "priority", "assignee", "done"),
    "archived",
)


def read_table(caller: Caller, text: Text, options: Options) -> Reading:
    """Raises BadFile, and Invalid for roles that don't fit the table."""
    table = flattened(table_of(text.text, options.delimiter, quotes=options.quotes))
    sample = [row.cells for row in table.rows[:30]]
    header = has_header(sample) if options.header is None else options.header
    rows = table.rows[1:] if header else table.rows
    given = list(table.rows[0].cells) if header else []
    longest = len(given)
    given += [""] * (table.width - len(given))
    names = unique(given)
    roles = _roles(options, given, header)
    order, notes = _order(rows, roles, options)
    if header and any(len(row.cells) > longest for row in rows):
        notes.append("Some rows have more cells than the header: kept as properties.")
    reader = _Reader(caller, names, roles, order, options.faults == "keep")
    for row in rows:
        reader.take(row)
    notes += [*table.notes, *_said_of_width(table), *reader.notes()]
    return Reading(
        ImportRun.Kind.TABLE,
        reader.document(),
        len(rows),
        reader.rows,
        reader.skipped,
        notes,
        encoding=text.encoding,
        delimiter=table.delimiter,
        header=header,
        dates=order,
        table=_shown(names, roles, rows),
    )


def _roles(options: Options, names: list[str], header: bool) -> list[Role]:
    if not options.roles:
        roles: list[Role] = ["property"] * len(names)
        if header:
            roles = roles_of(names)
        if "title" not in roles:
            roles[0] = "title"
        return roles
    roles = options.roles[: len(names)]
    roles += ["property"] * (len(names) - len(roles))
    for role in _ONCE:
        if roles.count(role) > 1:
            detail = f"Only one column can be the {role}."
            raise Invalid.at("/roles", "ambiguous", detail)
    if "title" not in roles:
        raise Invalid.at("/roles", "required", "Say which column is the title.")
    return roles


def _order(
    rows: list[Row], roles: list[Role], options: Options
) -> tuple[str, list[str]]:
    if "due" not in roles:
        return "", []
    if options.dates:
        return options.dates, []
    place = roles.index("due")
    found = cells.order_of(row.cells[place] for row in rows if len(row.cells) > place)
    if found == "either":
        note = (
            "Dates such as 03/04/2026 can be read in two ways: the day is taken first."
        )
        return "dmy", [f"{note} Say so if the month is."]
    if found == "both":
        note = (
            "Some dates have the day first and some the month: the day is taken first."
        )
        return "dmy", [note]
    return found or "dmy", []


def _said_of_width(table: Table) -> list[str]:
    if table.width > 1:
        return []
    return ["There is only one column. Is that so, or is the delimiter another one?"]


def _shown(names: list[str], roles: list[Role], rows: list[Row]) -> list[ShownColumn]:
    return [
        ShownColumn(name, roles[i], list(islice(_samples(rows, i), _SAMPLES)))
        for i, name in enumerate(names)
    ]


def _samples(rows: list[Row], place: int) -> Any:
    for row in rows[:100]:
        text = row.cells[place].strip() if len(row.cells) > place else ""
        if text:
            yield " ".join(text[:_SAMPLE_CHARACTERS].split())


@dataclass
class _Made:
    """A card on its way: what its cells say of it."""

    fields: dict[str, Any] = field(default_factory=dict)
    properties: dict[str, Any] = field(default_factory=dict)
    payload: dict[str, Any] = field(default_factory=dict)
    labels: list[str] = field(default_factory=list)
    list_name: str = ""
    faults: list[str] = field(default_factory=list)


class _Reader:
    """Row by row into cards; remembers what it met."""

    def __init__(
        self,
        caller: Caller,
        names: list[str],
        roles: list[Role],
        order: str,
        keeps_faulty: bool,
    ) -> None:
        self._caller, self._names, self._roles = caller, names, roles
        self._order, self._keeps = order, keeps_faulty
        self._known, self._now = Known(caller), now()
        self._columns: dict[str, int] = {}
        self._met: Counter[str] = Counter()
        self._cards: list[CardPart] = []
        self.rows: list[int] = []
        self.skipped: list[Skipped] = []

    def document(self) -> BoardDocument:
        names = self._columns or {NO_LIST: 0}
        return BoardDocument(
            board=BoardPart(name="Imported", default_role="editor"),
            columns=[ColumnPart(name=name) for name in names],
            cards=self._cards,
        )

    def notes(self) -> list[str]:
        return [
            *self._known.notes(),
            *(f"{what}: {count}." for what, count in self._met.items()),
        ]

    def take(self, row: Row) -> None:
        made = _Made()
        for name, role, cell in zip(self._names, self._roles, row.cells, strict=False):
            if cell.strip() and role != "ignore":
                self._cell(made, name, role, cell)
        title = " ".join(made.fields.get("title", "").split())
        if not title:
            self._skip(row, "", "It has no title.")
        elif made.faults and not self._keeps:
            self._skip(row, title, " ".join(made.faults))
        else:
            self._add(row, title, made)

    def _cell(self, made: _Made, name: str, role: Role, cell: str) -> None:
        if role == "labels":
            made.labels += cells.list_of(cell)
        elif role == "list":
            made.list_name = " ".join(cell.split())
        elif role == "payload":
            made.payload[name] = cells.json_or_text(cell)
        elif role == "property":
            made.properties[name] = cell
        elif role in ("title", "description"):
            made.fields[role] = cell
        else:
            self._meant(made, name, role, cell)

    def _meant(self, made: _Made, name: str, role: Role, cell: str) -> None:
        """Cells that mean something; what they don't say stays as a property."""
        if role == "assignee":
            named = cells.list_of(cell)
            made.fields["assignee"] = self._known.handle(named[:1])
            if not made.fields["assignee"] or len(named) > 1:
                made.properties[name] = cell
        elif role == "done":
            self._done(made, name, cell)
        elif role == "archived":
            self._archived(made, name, cell)
        elif role == "due":
            due = cells.moment_of(cell, self._order)
            self._or_fault(made, name, role, cell, due, "a date")
        else:
            priority = cells.priority_of(cell)
            self._or_fault(made, name, role, cell, priority, "a priority")

    def _done(self, made: _Made, name: str, cell: str) -> None:
        done = cells.is_done(cell)
        state = None if done is None else "done" if done else ""
        self._or_fault(made, name, "state", cell, state, "yes or no")
        if done and cells.moment_of(cell, self._order):
            made.properties[name] = cell

    def _archived(self, made: _Made, name: str, cell: str) -> None:
        """Since when, where it says so."""
        is_gone = cells.is_done(cell)
        self._or_fault(made, name, "is_archived", cell, is_gone, "yes or no")
        if made.fields.pop("is_archived", False):
            since = cells.moment_of(cell, self._order)
            made.fields["archived_at"] = since or self._now

    def _or_fault(
        self, made: _Made, name: str, field: str, cell: str, value: Any, wanted: str
    ) -> None:
        if value is not None:
            made.fields[field] = value
            return
        made.faults.append(f"{name} {cell.strip()[:60]!r} is not {wanted}.")
        made.properties[name] = cell

    def _add(self, row: Row, title: str, made: _Made) -> None:
        description = made.fields.get("description", "")
        if len(title) > MAX_TITLE_CHARACTERS:
            self._met[LONG_TITLES] += 1
            description = f"{title}\n\n{description}".rstrip()
            title = title[: MAX_TITLE_CHARACTERS - 1] + "…"
        labels = [one[:MAX_LABEL_CHARACTERS].strip() for one in made.labels]
        if labels != made.labels:
            self._met[LONG_LABELS] += 1
        name = made.list_name[:MAX_NAME_CHARACTERS].strip() or NO_LIST
        card = CardPart(
            column=self._columns.get(name, len(self._columns)),
            labels=list(dict.fromkeys(labels)),
            properties=made.properties,
            payload=made.payload or None,
            created_by=self._caller.handle,
            **{**made.fields, "title": title, "description": description},
        )
        try:
            card_fields(self._caller, card, "")
        except Invalid as error:
            place = error.errors[0].pointer.strip("/") if error.errors else ""
            self._skip(row, title, f"{place or 'the row'}: {error.detail}")
            return
        self._columns.setdefault(name, card.column)
        self._cards.append(card)
        self.rows.append(row.line)

    def _skip(self, row: Row, title: str, reason: str) -> None:
        self.skipped.append(Skipped(row.line, title[:200], reason))
