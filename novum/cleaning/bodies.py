"""JSON bodies, from bytes."""

import json
from collections import Counter
from typing import Any, NoReturn

import msgspec

from novum.cleaning.limits import MAX_BODY_BYTES
from novum.cleaning.refusal import (
    BAD_REQUEST,
    OUT_OF_RANGE,
    TOO_DEEP,
    TOO_LARGE,
    Unclean,
    unclean,
)
from novum.cleaning.values import Repeated, colons_if_clean, refuse_first_fault

# Python's own float, because msgspec's takes 8 µs for one like 1e308: over a second
# for a body full of them.
_DECODER = msgspec.json.Decoder(float_hook=float)


def read_json(body: bytes, *, limit: int = MAX_BODY_BYTES) -> Any:
    """The clean JSON value of a body of at most `limit` bytes.

    Raises Unclean. A float may be written with any number of digits and keeps a
    double's precision.
    """
    if len(body) > limit:
        detail = f"The body has {len(body)} bytes, at most {limit} are allowed."
        raise Unclean(TOO_LARGE, "", "too_large", detail)
    try:
        value = _DECODER.decode(body)
    except RecursionError:
        raise unclean(TOO_DEEP) from None
    except msgspec.DecodeError as error:
        _refuse_undecodable(body, error)
    colons = colons_if_clean(value)
    if colons is None:
        refuse_first_fault(value, "")
    # msgspec keeps the last of two members of one name. The text then has more
    # colons than the value accounts for; only where a colon is written as an escape
    # the count says nothing, and the slower parser must look in any case.
    if colons != body.count(b":") or b"\\u003" in body:
        _refuse_repeated_keys(body)
    return value


def _refuse_undecodable(body: bytes, error: msgspec.DecodeError) -> NoReturn:
    """Say why msgspec did not take it: the standard parser takes more, and tells."""
    try:
        value = json.loads(body.decode())
    except UnicodeDecodeError as wrong:
        detail = f"The body is not UTF-8 at byte {wrong.start}."
        raise Unclean(BAD_REQUEST, "", "not_utf8", detail) from None
    except RecursionError:
        raise unclean(TOO_DEEP) from None
    except json.JSONDecodeError as wrong:
        detail = f"Not JSON: {wrong}."
        raise Unclean(BAD_REQUEST, "", "malformed_json", detail) from None
    except ValueError:
        # Python refuses to turn more than 4,300 digits into an integer.
        raise unclean(OUT_OF_RANGE) from None
    refuse_first_fault(value, "")
    raise Unclean(BAD_REQUEST, "", "malformed_json", f"Not JSON: {error}.")


def _refuse_repeated_keys(body: bytes) -> None:
    refuse_first_fault(json.loads(body, object_pairs_hook=_object), "")


def _object(members: list[tuple[str, object]]) -> object:
    value = dict(members)
    if len(value) == len(members):
        return value
    counts = Counter(key for key, _ in members)
    return Repeated(next(key for key, count in counts.items() if count > 1))
