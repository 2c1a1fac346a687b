"""What the operations on boards and files take."""

from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta

from accounts.told import told
from boards.verbs.text import MAX_NAME_CHARACTERS
from novum.operations.operation import Input
from transfer.contract import MAX_FILE_BYTES, MAX_TABLE_COLUMNS
from transfer.files.options import Encoding, Options, Role

MAX_BASE64_CHARACTERS = -(-MAX_FILE_BYTES // 3) * 4
BoardName = Annotated[str, Meta(max_length=MAX_NAME_CHARACTERS)]


class ExportBoard(Input, frozen=True):
    board_id: UUID


class ImportBoard(Input, frozen=True):
    document: Annotated[dict[str, Any], Meta(description="As export_board answers it.")]
    name: Annotated[BoardName, Meta(description="Another name for the board.")] = ""
    again: Annotated[
        bool, Meta(description="Also if this very document was imported before.")
    ] = False


class ImportInput(Input, frozen=True):
    import_id: UUID


class FileInput(Input, frozen=True):
    """A file and how to read it; what isn't said is found out."""

    text: Annotated[
        Annotated[str, told(maxLength=MAX_FILE_BYTES)] | None,
        Meta(description="The file's text …"),
    ] = None
    base64: Annotated[
        Annotated[str, told(maxLength=MAX_BASE64_CHARACTERS)] | None,
        Meta(description="… or its bytes."),
    ] = None
    file_name: Annotated[str, Meta(max_length=1000)] = ""
    encoding: Encoding = ""
    delimiter: Literal["", ",", ";", "\t", "|"] = ""
    quotes: Annotated[
        bool, Meta(description="False: quotes are characters like others.")
    ] = True
    header: Annotated[
        bool | None, Meta(description="Whether the first row has names.")
    ] = None
    dates: Annotated[
        Literal["", "dmy", "mdy"], Meta(description="How 03/04/2026 is meant.")
    ] = ""
    roles: Annotated[
        list[Role],
        Meta(
            max_length=MAX_TABLE_COLUMNS,
            description="What each column of a table is, from left to right.",
        ),
    ] = []
    faults: Annotated[
        Literal["skip", "keep"],
        Meta(description="`keep`: a cell that doesn't fit becomes a property."),
    ] = "skip"

    @property
    def options(self) -> Options:
        return Options(
            encoding=self.encoding,
            delimiter=self.delimiter,
            quotes=self.quotes,
            header=self.header,
            dates=self.dates,
            roles=self.roles,
            faults=self.faults,
        )


class ImportFile(FileInput, frozen=True):
    import_id: Annotated[
        UUID | None, Meta(description="Of preview_import, instead of the file.")
    ] = None
    board_name: Annotated[BoardName, Meta(description="Of the new board.")] = ""
    board_id: Annotated[
        UUID | None,
        Meta(description="A board that is there: lists go to columns of their names."),
    ] = None
    column_id: Annotated[
        UUID | None, Meta(description="A column of that board, for all cards.")
    ] = None
    again: Annotated[
        bool, Meta(description="Also if this very file was imported before.")
    ] = False
