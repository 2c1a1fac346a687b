"""How a file is to be read, where it isn't as it was found."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from transfer.contract import MAX_TABLE_COLUMNS

Role = Literal[
    "title",
    "description",
    "list",
    "labels",
    "due",
    "priority",
    "assignee",
    "done",
    "property",
    "payload",
    "ignore",
]
ROLES: tuple[Role, ...] = (
    *("title", "description", "list", "labels", "due", "priority", "assignee", "done"),
    *("property", "payload", "ignore"),
)  # type: ignore[assignment]
Encoding = Literal[
    *("", "utf-8", "utf-16", "cp1252", "iso-8859-1", "iso-8859-15", "cp1250"),
    *("cp1251", "mac-roman", "shift_jis", "euc-kr", "gb18030", "big5"),
]
ENCODINGS: tuple[str, ...] = Encoding.__args__[1:]  # type: ignore[attr-defined]


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Empty or null: as found. `roles` has one for each column, from left to right."""

    encoding: Encoding = ""  # type: ignore[valid-type]
    delimiter: Literal["", ",", ";", "\t", "|"] = ""
    quotes: bool = True
    header: bool | None = None
    dates: Literal["", "dmy", "mdy"] = ""
    roles: Annotated[list[Role], Meta(max_length=MAX_TABLE_COLUMNS)] = []
    faults: Literal["skip", "keep"] = "skip"
