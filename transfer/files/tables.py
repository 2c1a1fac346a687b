"""From text to rows of cells: the delimiter, quotes, line ends, ragged rows."""

import csv
import io
from collections import Counter
from dataclasses import dataclass, field

from transfer.contract import MAX_TABLE_COLUMNS
from transfer.errors import BadFile

DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_CHARACTERS, _SAMPLE_ROWS = 64 * 1024, 200
# A cell may be as long as a file.
_MOST_CHARACTERS = 2**31 - 1


@dataclass(frozen=True)
class Row:
    """`line` is where it begins in the file, from 1 on."""

    line: int
    cells: list[str]


@dataclass(frozen=True)
class Table:
    """Rows without any text are left out and counted."""

    delimiter: str
    width: int
    rows: list[Row]
    blank: int = 0
    notes: list[str] = field(default_factory=list)


def table_of(text: str, delimiter: str = "", *, quotes: bool = True) -> Table:
    """Raises BadFile."""
    skipped_lines = 0
    said, text_left = _said(text)
    if said:
        delimiter, text, skipped_lines = delimiter or said, text_left, 1
    delimiter = delimiter or _found(text, quotes)
    notes: list[str] = []
    try:
        rows = _rows(text, delimiter, quotes, strict=True)
    except csv.Error as error:
        if "end of data" in str(error):
            line = _open_quote(text, delimiter)
            raise BadFile(
                f"A quote that begins in line {line + skipped_lines} never ends. Mend"
                " the file, or read quotes as plain characters.",
                mendable=True,
            ) from None
        rows = _rows(text, delimiter, quotes, strict=False)
        notes.append("Behind some closing quotes stands more text: read as one cell.")
    return _table(delimiter, rows, skipped_lines, notes)


def _table(
    delimiter: str, rows: list[Row], skipped_lines: int, notes: list[str]
) -> Table:
    filled = [
        Row(row.line + skipped_lines, row.cells)
        for row in rows
        if any(cell.strip() for cell in row.cells)
    ]
    if not filled:
        raise BadFile("The file is empty.")
    width = max(len(row.cells) for row in filled)
    if width > MAX_TABLE_COLUMNS:
        detail = f"{width} columns; {MAX_TABLE_COLUMNS} are read at most."
        raise BadFile(f"The table has {detail} Is the delimiter right?", mendable=True)
    return Table(delimiter, width, filled, len(rows) - len(filled), notes)


def _said(text: str) -> tuple[str, str]:
    """Excel's `sep=;` in the first line, and what comes behind it."""
    head, _, rest = text.partition("\n")
    head = head.strip().strip('"')
    if len(head) == 5 and head.lower().startswith("sep=") and head[4] in DELIMITERS:
        return head[4], rest
    return "", text


def _found(text: str, quotes: bool) -> str:
    """The one that cuts the first rows into the most equal pieces."""
    sample = text[:_SAMPLE_CHARACTERS]
    return max(DELIMITERS, key=lambda each: _evenness(sample, each, quotes))


def _evenness(sample: str, delimiter: str, quotes: bool) -> tuple[float, int]:
    rows = _rows(sample, delimiter, quotes, strict=False)[:_SAMPLE_ROWS]
    if len(rows) > 2:
        # The sample may end within a row.
        rows = rows[:-1]
    widths = Counter(len(row.cells) for row in rows if any(row.cells))
    if not widths:
        return 0.0, 0
    (width, times), *_ = widths.most_common(1)
    if width == 1:
        return 0.0, 0
    first = len(rows[0].cells)
    share = times / widths.total()
    return (share + (0.5 if first == width else 0.0), width)


def _rows(text: str, delimiter: str, quotes: bool, *, strict: bool) -> list[Row]:
    csv.field_size_limit(_MOST_CHARACTERS)
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        strict=strict and quotes,
    )
    rows, line = [], 1
    for cells in reader:
        rows.append(Row(line, cells))
        line = reader.line_num + 1
    return rows


def _open_quote(text: str, delimiter: str) -> int:
    """The line in which the last row begins, as it's read up to the end."""
    return _rows(text, delimiter, True, strict=False)[-1].line
