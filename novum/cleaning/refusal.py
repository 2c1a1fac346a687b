"""The error of an input we do not take, and its kinds."""

from typing import NamedTuple

from novum.cleaning.limits import MAX_DEPTH, MAX_INTEGER

# Pointers in errors are cut here, because keys come from the outside.
MAX_POINTER_CHARACTERS = 300

BAD_REQUEST, TOO_LARGE, UNPROCESSABLE = 400, 413, 422


class Unclean(Exception):
    """An input we do not take.

    `status_hint` is an HTTP status, `pointer` a JSON Pointer ("" is the whole),
    `code` one of too_large, not_utf8, malformed_json, repeated_key, too_deep,
    nul_character, lone_surrogate, number_out_of_range, not_json.
    """

    def __init__(self, status_hint: int, pointer: str, code: str, detail: str) -> None:
        if len(pointer) > MAX_POINTER_CHARACTERS:
            pointer = pointer[: MAX_POINTER_CHARACTERS - 1] + "…"
        self.status_hint = status_hint
        self.pointer = pointer
        self.code = code
        self.detail = detail
        super().__init__(f"{pointer or 'input'}: {detail}")


class Fault(NamedTuple):
    status_hint: int
    code: str
    detail: str


TOO_DEEP = Fault(
    UNPROCESSABLE, "too_deep", f"Nested deeper than {MAX_DEPTH} arrays and objects."
)
OUT_OF_RANGE = Fault(
    UNPROCESSABLE,
    "number_out_of_range",
    f"Numbers are finite, and integers within ±{MAX_INTEGER}: "
    "send a larger one as a string.",
)


def unclean(fault: Fault, pointer: str = "") -> Unclean:
    return Unclean(fault.status_hint, pointer, fault.code, fault.detail)
