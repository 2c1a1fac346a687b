"""Fold reasons: "Timeout after 31 s for card NOV-7" and "Timeout after 9 s for card
NOV-12" are the same trouble, and are counted as one.

What differs from case to case (numbers, ids, quoted text, paths, moments) becomes a
placeholder. What tells troubles apart stays: `HTTP 503` isn't `HTTP 404`, and exit codes,
error numbers and signals keep their numbers.
"""

import re

MAX_FOLD_CHARACTERS = 200
# Of very long reasons only the beginning counts.
_MAX_READ = 2_000
_TRACEBACK = "Traceback (most recent call last)"

# Tried in this order at each place; what is named `kept` stays as it is.
_PARTS = (
    (
        "kept",
        r"\b(?:https?(?:/\d(?:\.\d)?)?|status|code|errno|exit|signal)"
        r"(?:[ _:=-]{1,2}(?:status|code)){0,2}[ :=#(]{1,2}\d{1,5}\b",
    ),
    ("url", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s\"'<>)\]]+"),
    ("email", r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+\b"),
    (
        "time",
        r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?"
        r"(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?\b|\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?\b",
    ),
    ("id", r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
    (
        "text",
        r"(?<!\w)(?:\"[^\"]*\"|'[^']*'(?!\w)|`[^`]*`|\u201c[^\u201d]*\u201d"
        r"|\u201e[^\u201c]*\u201c|\u00ab[^\u00bb]*\u00bb)",
    ),
    (
        "path",
        r"(?<![\w<])(?:[a-z]:\\|\\\\|~?/|\.{1,2}/)[\w.@%+~-]+(?:[/\\][\w.@%+~-]*)*",
    ),
    ("ip", r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b"),
    ("key", r"\b(?-i:[A-Z][A-Z0-9]{0,9})-\d+\b"),
    ("hex", r"\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b"),
    ("n", r"(?<![\w<])[+-]?\d+(?:[.,_]\d+)*(?:e[+-]?\d+)?|(?<=\d)\d+|(?<=[_-])\d+\b"),
)
_ANY = re.compile("|".join(f"(?P<{name}>{rule})" for name, rule in _PARTS), re.I)


def fold(reason: str) -> str:
    """The reason without what differs from case to case, in one line of at most 200
    characters. The same text always gives the same."""
    text = _said(reason[:_MAX_READ])
    folded = _ANY.sub(_placeholder, text)
    if len(folded) > MAX_FOLD_CHARACTERS:
        folded = folded[: MAX_FOLD_CHARACTERS - 1].rstrip() + "…"
    return folded


def _said(reason: str) -> str:
    """In one line; of a Python traceback its last one, which says what went wrong."""
    lines = [line for line in reason.splitlines() if line.strip()]
    if lines and _TRACEBACK in lines[0]:
        lines = lines[-1:]
    return " ".join(" ".join(lines).split()).rstrip(" .;,:!")


def _placeholder(found: re.Match[str]) -> str:
    if found.lastgroup == "kept":
        return found[0]
    return f"<{found.lastgroup}>"
