"""novum __complete <line up to the cursor>: what may stand there, one a line."""

from novum.cli import output
from novum.cli.catalog import Catalog, Field, Operation
from novum.cli.commands.completion import SCRIPTS
from novum.cli.errors import Failure
from novum.cli.options import KINDS, Given
from novum.cli.places import chosen_server
from novum.cli.transport import Transport
from novum.cli.values import kinds, variants

BUILT_IN = ("help", "login", "logout", "watch", "work", "doctor", "completion")
OPTIONS = {
    "watch": ("--json",),
    "work": ("--concurrency", "--once", "--until-empty", "--retry"),
}
FOR_ALL, FOR_CALLS = ("--help", "--url", "--timeout"), ("--query", "--raw", "--key")
# `novum work` and `novum watch` take fields of these.
LIKE = {"work": "tasks.claim", "watch": "list_events"}
# Somebody waits at the keyboard.
PATIENCE_SECONDS = 2.0


def run(given: Given) -> int:
    line = given.words[1] if given.words[1:] else ""
    _, *before = line.split()
    word = "" if not line or line[-1].isspace() else before.pop() if before else ""
    try:
        found = _candidates(before, word)
    except Failure:
        # There's no place on the line for a reason.
        return 0
    for one in found:
        if one.startswith(word):
            output.write(one)
    return 0


def _candidates(before: list[str], word: str) -> list[str]:
    words = [one for one in before if not one.startswith("-")]
    first = words[0] if words else ""
    if "--" in before or KINDS.get(before[-1] if before else "", bool) is not bool:
        return []
    if word.startswith("-"):
        return [*OPTIONS.get(first, () if first in BUILT_IN else FOR_CALLS), *FOR_ALL]
    if first == "completion":
        return list(SCRIPTS)
    catalog = _catalog()
    if not words or words == ["help"]:
        return [*catalog.names(), *BUILT_IN]
    name = LIKE.get(first, first)
    known = [one for one in catalog.remembered() if one.name == name]
    return _fields(known[0], words[1:], word) if known else []


def _catalog() -> Catalog:
    transport = Transport(chosen_server(None), PATIENCE_SECONDS)
    catalog = Catalog(transport, tries=1)
    if not catalog.names():
        catalog.refresh(0)
    return catalog


def _fields(operation: Operation, given: list[str], word: str) -> list[str]:
    if "=" in word:
        field = operation.field(word.partition("=")[0].rstrip(":"))
        return [f"{field.name}={value}" for value in _values(field)] if field else []
    taken = {one.partition("=")[0].rstrip(":") for one in given}
    left = [field for field in operation.fields if field.name not in taken]
    left.sort(key=lambda field: not field.required)
    return [field.name + _joint(field) for field in left]


def _joint(field: Field) -> str:
    """Where only JSON can stand, `:=`."""
    return ":=" if kinds(field.schema) and kinds(field.schema) <= _JSON else "="


_JSON = {"object", "null"}


def _values(field: Field) -> list[str]:
    found = [
        str(one) for kind in variants(field.schema) for one in kind.get("enum", [])
    ]
    return found or (["true", "false"] if "boolean" in kinds(field.schema) else [])
