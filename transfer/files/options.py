"""How a file is to be read, where it isn't as it was found."""

from typing import Annotated, Literal, get_args

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
    "archived",
    "property",
    "payload",
    "ignore",
]
ROLES: tuple[Role, ...] = get_args(Role)
Encoding = Literal[
    "",
    "utf-8",
    "utf-16",
    "cp1252",
    "iso-8859-1",
    "iso-8859-15",
    "cp1250",
    "cp1251",
    "mac-roman",
    "shift_jis",
    "euc-kr",
    "gb18030",
    "big5",
]
ENCODINGS: tuple[str, ...] = get_args(Encoding)[1:]


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Empty or null: as found. `roles` has one for each column, from left to right."""

    encoding: Encoding = ""
    delimiter: Literal["", ",", ";", "\t", "|"] = ""
    quotes: bool = True
    header: bool | None = None
    dates: Literal["", "dmy", "mdy"] = ""
    roles: Annotated[list[Role], Meta(max_length=MAX_TABLE_COLUMNS)] = []
    faults: Literal["skip", "keep"] = "skip"
