"""From bytes to text: which encoding, and whether it's text at all."""

import codecs
from dataclasses import dataclass

from transfer.errors import BadFile

_HEAD_BYTES = 4096
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# What people take for a table, by its first bytes.
_KNOWN = (
    (b"PK\x03\x04", "an Excel or ZIP file: save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file: save the sheet as CSV"),
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x1f\x8b", "a gzip file: unpack it first"),
)


@dataclass(frozen=True)
class Text:
    text: str
    encoding: str


def text_of(content: bytes, wanted: str = "") -> Text:
    """In the encoding wanted, else the one it seems to have. Raises BadFile."""
    if not content.strip(b"\xef\xbb\xbf\xff\xfe \t\r\n\0"):
        raise BadFile("The file is empty.")
    for mark, name in _KNOWN:
        if content.startswith(mark):
            raise BadFile(f"This is {name}.")
    marked = next((one for one in _MARKS if content.startswith(one[0])), None)
    encoding = wanted or (marked[1] if marked else _found(content))
    if encoding == "utf-16":
        encoding = marked[1] if marked and "16" in marked[1] else _utf16(content)
    if marked and (marked[1] == encoding):
        content = content[len(marked[0]) :]
    text = _decoded(content, encoding)
    _refuse_binary(text)
    return Text(text, "utf-16" if encoding.startswith("utf-16") else encoding)


def _found(content: bytes) -> str:
    head = content[:_HEAD_BYTES]
    if head.count(0) > len(head) // 4:
        return _utf16(content)
    try:
        content.decode()
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _utf16(content: bytes) -> str:
    """Latin letters have their zero byte behind (little endian) or before them."""
    head = content[:_HEAD_BYTES]
    return "utf-16-le" if head[1::2].count(0) >= head[::2].count(0) else "utf-16-be"


def _decoded(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding == "cp1252":
            # Five of its bytes mean nothing; there every byte is a character.
            return content.decode("iso-8859-1")
        detail = f"The file is not {encoding} at byte {error.start}."
        raise BadFile(f"{detail} Choose another encoding.", mendable=True) from None


def _refuse_binary(text: str) -> None:
    head = text[:_HEAD_BYTES]
    odd = sum(1 for one in head if one < " " and one not in "\t\r\n\f\v")
    if odd > len(head) // 20:
        raise BadFile("This isn't text: neither a table nor JSON.")
