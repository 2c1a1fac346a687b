"""JSON to standard output; one line for everything else."""

import json
import re
import sys
from typing import Any

from novum.cli.errors import NOTHING, Failure

# What a terminal would take for a command, or what turns a line around.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_IN_JSON = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Nothing(Failure):
    """-q found nothing."""

    code = NOTHING


def show(body: bytes, *, raw: bool, query: str | None) -> None:
    """Pretty on a terminal, in one line elsewhere or if `raw`. Raises Nothing."""
    if query is not None:
        for value in select(json.loads(body) if body else None, query):
            write(value if isinstance(value, str) else compact(value))
    elif body.strip():
        if raw or not sys.stdout.isatty():
            write(body.decode())
        else:
            text = json.dumps(json.loads(body), ensure_ascii=False, indent=2)
            write(_IN_JSON.sub(lambda one: f"\\u{ord(one[0]):04x}", text))


def write(text: str) -> None:
    """A line, in UTF-8 whatever the locale, and at once."""
    if sys.stdout.isatty():
        text = "\n".join(map(one_line, text.split("\n")))
    sys.stdout.buffer.write(text.encode(errors="surrogateescape") + b"\n")
    sys.stdout.buffer.flush()


def say(text: str) -> None:
    """A line to standard error."""
    sys.stderr.buffer.write(f"novum: {one_line(text)}\n".encode(errors="replace"))
    sys.stderr.buffer.flush()


def one_line(text: str) -> str:
    return _CONTROL.sub(" ", text)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def select(value: Any, path: str) -> list[Any]:
    """What a dotted path leads to: names, numbers of a list's items, `*` for all.

    Raises Nothing for a path into nowhere: silently where the way ends at a null (as for
    `task.id` of an empty claim), else naming what there is.
    """
    found = [value]
    for step in path.split("."):
        found = [each for one in found for each in _step(one, step)]
    found = [one for one in found if one is not None]
    if not found:
        raise Nothing("")
    return found


def _step(value: Any, step: str) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, dict):
        if step == "*":
            return list(value.values())
        if step in value:
            return [value[step]]
        raise Nothing(f"-q: no {step} here, only {', '.join(value) or 'nothing'}.")
    if isinstance(value, list):
        if step == "*":
            return value
        if step.lstrip("-").isdecimal():
            number = int(step)
            fits = -len(value) <= number < len(value)
            return [value[number]] if fits else []
        raise Nothing(f"-q: here is a list: write a number or * for {step}.")
    raise Nothing(f"-q: no {step} in {compact(value)[:60]}.")
