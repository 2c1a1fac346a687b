"""Regular expressions with a time bound: RE2 instead of Python's ``re``.

A pattern is RE2 syntax, searched anywhere in the text as JSON Schema says,
plus what ECMA-262 has and RE2 lacks: ``\\uXXXX``, ``\\u{X…}``, ``\\cX``, ``\\s`` and
``\\S`` with Unicode white space, ``\\p{Letter}`` and ``\\p{Script=Greek}``. ``$`` is the
very end of the text, never before a last newline. Look-around and back-references
cannot run in linear time and are refused.
"""

import re
from functools import lru_cache
from typing import Any

import re2

from leases.schemas.clock import spend

MAX_PATTERN_CHARACTERS = 200
# Each compiled pattern may hold this much, and re2 itself keeps as many again:
# 64 MiB at the very most.
_PATTERN_MEMORY_BYTES = 256 * 1024
_CACHED_PATTERNS = 128
# RE2's worst case is text bytes x program size; 290 million a second measured
# on one core, a third of it assumed.
_STEPS_PER_SECOND = 100_000_000

_OPTIONS = re2.Options()
_OPTIONS.max_mem = _PATTERN_MEMORY_BYTES
_OPTIONS.never_capture = True
_OPTIONS.log_errors = False

_WHITE_SPACE = (
    r"\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}"
    r"\x{3000}\x{FEFF}"
)
_TOKEN = re.compile(
    r"\\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\u(?P<four>[0-9a-fA-F]{4})"
    r"|\\u\{(?P<braced>[0-9a-fA-F]{1,6})\}"
    r"|\\c(?P<control>[a-zA-Z])"
    r"|\\(?P<space>[sS])"
    r"|\\[pP]\{(?:(?:General_Category|gc|Script|sc)=)?(?P<property>\w+)\}"
    r"|\\.|\[|\]",
    re.DOTALL,
)
_CATEGORIES = {
    "Letter": "L",
    "Lowercase_Letter": "Ll",
    "Uppercase_Letter": "Lu",
    "Mark": "M",
    "Number": "N",
    "Decimal_Number": "Nd",
    "Punctuation": "P",
    "Symbol": "S",
    "Separator": "Z",
    "Space_Separator": "Zs",
}
_LOOK_AROUND = re.compile(r"\(\?<?[=!]")
_BACK_REFERENCE = re.compile(r"\\[1-9]|\\k<|\(\?P=")


class BadPattern(Exception):
    """A pattern we cannot promise to run; the message says why."""


@lru_cache(maxsize=_CACHED_PATTERNS)
def compiled(pattern: str) -> Any:
    """The RE2 program of a pattern. Raises BadPattern."""
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        raise BadPattern(
            f"The pattern has {len(pattern)} characters, at most "
            f"{MAX_PATTERN_CHARACTERS} are allowed."
        )
    try:
        return re2.compile(_from_ecma(pattern), _OPTIONS)
    except UnicodeEncodeError:
        raise BadPattern("The pattern has a lone surrogate.") from None
    except re2.error as error:
        raise BadPattern(_why(pattern, error)) from None


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text. Raises BadPattern, TooSlow."""
    program = compiled(pattern)
    encoded = text.encode()
    spend(len(encoded) * program.programsize / _STEPS_PER_SECOND)
    return program.search(encoded) is not None


def _why(pattern: str, error: Exception) -> str:
    if _LOOK_AROUND.search(pattern):
        return "The pattern uses look-around, which has no linear-time match."
    if _BACK_REFERENCE.search(pattern):
        return "The pattern uses a back-reference, which has no linear-time match."
    reason = error.args[0] if error.args else error
    if isinstance(reason, bytes):
        reason = reason.decode("utf-8", "replace")
    return f"The pattern is not one RE2 can run: {reason}."


def _from_ecma(pattern: str) -> str:
    in_class = False

    def translate(token: re.Match[str]) -> str:
        nonlocal in_class
        text = token[0]
        if text == "[":
            in_class = True
        elif text == "]":
            in_class = False
        elif token["space"]:
            return _space(text, in_class)
        elif token["property"]:
            name = token["property"]
            return f"{text[:2]}{{{_CATEGORIES.get(name, name)}}}"
        elif len(text) > 2:
            return f"\\x{{{_code_point(token):X}}}"
        return text

    return _TOKEN.sub(translate, pattern)


def _space(text: str, in_class: bool) -> str:
    if text == r"\s":
        return _WHITE_SPACE if in_class else f"[{_WHITE_SPACE}]"
    # RE2 cannot subtract inside of a class: there \S keeps its ASCII meaning.
    return text if in_class else f"[^{_WHITE_SPACE}]"


def _code_point(token: re.Match[str]) -> int:
    if token["high"]:
        high, low = int(token["high"], 16), int(token["low"], 16)
        return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
    if token["control"]:
        return ord(token["control"]) % 32
    return int(token["four"] or token["braced"], 16)
