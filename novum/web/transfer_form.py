"""How a file is to be read and where it's to go, as the page sends it."""

from dataclasses import dataclass
from uuid import UUID

import msgspec
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from accounts.errors import Invalid
from transfer.files.options import Options
from transfer.shapes import Preview, Target
from transfer.targets import TargetBoard

DELIMITERS = (
    (",", _("Comma")),
    (";", _("Semicolon")),
    ("\t", _("Tab")),
    ("|", _("Vertical bar")),
)
DATES = (("dmy", _("Day first")), ("mdy", _("Month first")))
FAULTS = (
    ("skip", _("Skip the row")),
    ("keep", _("Keep it as a property")),
)
ROLE_NAMES = {
    "title": _("Title"),
    "description": _("Description"),
    "list": _("List (column)"),
    "labels": _("Labels"),
    "due": _("Due"),
    "priority": _("Priority"),
    "assignee": _("Assignee"),
    "done": _("Done"),
    "archived": _("Archived"),
    "property": _("Property"),
    "payload": _("Payload"),
    "ignore": _("Leave out"),
}
ENCODING_NAMES = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": "Windows-1252",
    "iso-8859-1": "Latin-1",
    "iso-8859-15": "Latin-9",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "mac-roman": "Mac Roman",
    "shift_jis": "Shift JIS",
    "euc-kr": "EUC-KR",
    "gb18030": "GB 18030",
    "big5": "Big5",
}
BASICS = ("encoding", "delimiter", "header", "quotes")


@dataclass(frozen=True)
class Said:
    """`options` as the form has them; `base` is what the roles were chosen for."""

    options: Options
    base: str

    @property
    def is_default(self) -> bool:
        return self.options == Options()


def said(data: QueryDict) -> Said:
    """Raises Invalid for what no select offers."""
    base = "|".join(data.get(name, "") for name in BASICS)
    given = {
        name: data[name]
        for name in ("encoding", "delimiter", "dates", "faults")
        if name in data
    }
    more: dict[str, object] = {}
    if data.get("header") in ("yes", "no"):
        more["header"] = data["header"] == "yes"
    if "quotes" in data:
        more["quotes"] = data["quotes"] == "yes"
    # Chosen for another cut of the table, roles would mean other columns.
    if data.get("base", base) == base:
        more["roles"] = data.getlist("role")
    try:
        options = msgspec.convert({**given, **more}, Options)
    except msgspec.ValidationError as error:
        raise Invalid(f"That can't be chosen: {error}.") from None
    return Said(options, base)


@dataclass(frozen=True)
class Reading:
    """What the form shows as chosen: what was said, else what was found."""

    encoding: str
    delimiter: str
    header: str
    quotes: str
    dates: str
    faults: str
    roles: list[str]

    def fields(self) -> list[tuple[str, str]]:
        """As a form sends them."""
        names = (*BASICS, "dates", "faults")
        return [
            *((name, getattr(self, name)) for name in names),
            *(("role", role) for role in self.roles),
        ]

    @property
    def base(self) -> str:
        return "|".join((self.encoding, self.delimiter, self.header, self.quotes))


def reading(chosen: Said, preview: Preview | None) -> Reading:
    options = chosen.options
    header = options.header
    if header is None:
        header = preview.header if preview and preview.header is not None else True
    return Reading(
        encoding=(preview and preview.encoding) or options.encoding or "utf-8",
        delimiter=(preview and preview.delimiter) or options.delimiter or ",",
        header="yes" if header else "no",
        quotes="yes" if options.quotes else "no",
        dates=(preview and preview.dates) or options.dates or "dmy",
        faults=options.faults,
        roles=[one.role for one in preview.table] if preview else [],
    )


def target_of(data: QueryDict) -> Target:
    """`into` is `new`, `board <id>`, or `column <board> <column>`. Raises Invalid."""
    kind, *ids = data.get("into", "new").split()
    try:
        found = [UUID(one) for one in ids]
        if kind == "board":
            return Target(board_id=found[0])
        if kind == "column":
            return Target(board_id=found[0], column_id=found[1])
    except (ValueError, IndexError):
        raise Invalid("Choose where the cards go.") from None
    return Target(name=data.get("board_name", "").strip())


def choices(boards: list[TargetBoard]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The groups of the select."""
    return [(board.name, _of_board(board)) for board in boards]


def _of_board(board: TargetBoard) -> list[tuple[str, str]]:
    by_name = str(_("Columns by the names of the lists"))
    columns = [(f"column {board.id} {pk}", name) for pk, name in board.columns]
    return [(f"board {board.id}", by_name), *columns]
