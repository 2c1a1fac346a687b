"""Any file as a board's document, with what isn't taken of it."""

from dataclasses import dataclass, field
from typing import Any

import msgspec

from accounts.callers import Caller
from transfer.errors import BadFile
from transfer.files.options import Options
from transfer.files.text import text_of
from transfer.models import ImportRun
from transfer.shapes import BoardDocument, Skipped, TableColumn


@dataclass(frozen=True)
class Reading:
    """`rows` says for each card of the document where in the file it comes from.
    `read` counts what the file has of cards, taken or not."""

    kind: ImportRun.Kind
    document: BoardDocument
    read: int
    rows: list[int] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    encoding: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    dates: str | None = None
    table: list[TableColumn] = field(default_factory=list)


def read_file(caller: Caller, content: bytes, options: Options) -> Reading:
    """Raises BadFile for what can't be read at all."""
    # Here, since each reader makes a Reading.
    from transfer.files.table_cards import read_table
    from transfer.files.trello import read_trello

    found = text_of(content, options.encoding)
    start = found.text.lstrip()[:1]
    if start not in ("{", "["):
        return read_table(caller, found, options)
    try:
        value = json_of(found.text)
    except BadFile:
        if start == "[":
            return read_table(caller, found, options)
        raise
    if isinstance(value, dict) and value.get("format") == "novum-board":
        return _novum(value)
    if isinstance(value, dict) and _has_lists(value, "lists", "cards"):
        return read_trello(caller, value)
    raise BadFile("This is JSON, but neither a board of Novum nor one of Trello.")


def document_of(value: Any) -> BoardDocument:
    """Raises BadFile, naming the place."""
    version = value.get("version") if isinstance(value, dict) else None
    if isinstance(version, int) and version > 1:
        raise BadFile(f"This board was exported in version {version}; 1 is known here.")
    try:
        return msgspec.convert(value, BoardDocument)
    except msgspec.ValidationError as error:
        raise BadFile(f"Not a board of Novum: {error}.") from None


def _novum(value: Any) -> Reading:
    document = document_of(value)
    return Reading(
        ImportRun.Kind.NOVUM,
        document,
        len(document.cards),
        list(range(1, len(document.cards) + 1)),
    )


def _has_lists(value: dict[str, Any], *names: str) -> bool:
    return all(isinstance(value.get(name), list) for name in names)


def json_of(text: str) -> Any:
    """Raises BadFile, saying where it breaks off."""
    try:
        return msgspec.json.decode(text)
    except RecursionError:
        raise BadFile("The JSON is nested too deep.") from None
    except (msgspec.DecodeError, UnicodeEncodeError):
        return _slowly(text)


def _slowly(text: str) -> Any:
    """The standard parser takes more (half of a surrogate pair), and tells more."""
    import json

    try:
        return json.loads(text)
    except RecursionError:
        raise BadFile("The JSON is nested too deep.") from None
    except json.JSONDecodeError as error:
        if error.msg.startswith("Unterminated") or error.pos >= len(text.rstrip()):
            detail = "The JSON ends in the middle: the file is cut off."
            raise BadFile(detail) from None
        detail = f"Not JSON in line {error.lineno}, column {error.colno}: {error.msg}."
        raise BadFile(detail) from None
    except ValueError:
        raise BadFile("The JSON has a number with thousands of digits.") from None
