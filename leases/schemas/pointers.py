"""RFC 6901 JSON Pointers: writing them, and following a local ``$ref``."""

import re
from collections.abc import Iterable
from urllib.parse import unquote

MAX_POINTER_CHARACTERS = 300

_INDEX = re.compile("0|[1-9][0-9]{0,8}")

type Path = tuple[str | int, ...]


def pointer(path: Iterable[str | int]) -> str:
    """The pointer of a path, as an answer may carry it: bounded, valid UTF-8.

    Keys come from the outside and may be a megabyte long.
    """
    escaped = (str(each).replace("~", "~0").replace("/", "~1") for each in path)
    text = "".join(f"/{each}" for each in escaped)
    if len(text) > MAX_POINTER_CHARACTERS:
        text = text[: MAX_POINTER_CHARACTERS - 1] + "…"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def follow(root: object, ref: str) -> object:
    """What a local reference ("#", "#/…") names in `root`.

    Raises LookupError when it names nothing or is not local, ValueError when its
    percent escapes are no UTF-8.
    """
    if ref == "#":
        return root
    if not ref.startswith("#/"):
        raise LookupError(ref)
    place = root
    for token in unquote(ref[2:], errors="strict").split("/"):
        place = _step(place, token.replace("~1", "/").replace("~0", "~"))
    return place


def _step(place: object, token: str) -> object:
    if isinstance(place, dict):
        return place[token]
    # RFC 6901: an index is digits without leading zeros, so "01" names nothing.
    if isinstance(place, list) and _INDEX.fullmatch(token):
        return place[int(token)]
    raise LookupError(token)
