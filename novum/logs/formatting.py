"""How a line looks: JSON, or for a terminal; with the facts of the call, and nothing
that opens a door."""

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from novum.logs.facts import shown

type Line = MutableMapping[str, Any]

CENSORED = "[censored]"
_SECRET_NAMES = (
    r"password|passwd|secret|token|authorization|cookie|api[-_]?key|sessionid"
)
# Ours by how they begin; whatever is called one of those names; credentials in an URL.
_SECRETS = re.compile(
    r"\b(?P<ours>nvm[a-z]_|whsec_)[0-9A-Za-z+/=]{6,}"
    r"|(?P<scheme>\b(?:bearer|basic)\s+)(?!\[)[\w.~+/=-]{6,}"
    r"|(?P<link>/welcome/[0-9a-f-]{36}/)[\w-]+"
    r"|(?P<host>://[^\s:/@\"]*:)[^\s@/\"]+(?=@)"
    rf"|(?P<name>(?:{_SECRET_NAMES})[\\\"']*\s*[:=]\s*[\\\"']*)(?!\[)[^\s\"'\\,;&}}]+",
    re.IGNORECASE,
)
_SECRET_NAME = re.compile(rf"({_SECRET_NAMES})$", re.IGNORECASE)


def formatter(*, as_json: bool) -> logging.Formatter:
    """For `logging`'s configuration; every logger of every library goes through it."""
    last = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if as_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _with_facts,
        ],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *([structlog.processors.format_exc_info] if as_json else []),
            _by_name,
            lambda logger, name, line: censored(last(logger, name, line)),
        ],
    )


def censored(text: str | bytes) -> str:
    """Without what opens a door, wherever it stands."""
    return _SECRETS.sub(_kept, text if isinstance(text, str) else text.decode())


def _kept(found: re.Match[str]) -> str:
    """What says what it was, in place of what it was."""
    return next((part for part in found.groups() if part), "") + CENSORED


def _with_facts(logger: Any, name: str, line: Line) -> Line:
    line.update(shown())
    line.update(getattr(line.get("_record"), "facts", {}))
    return line


def _by_name(logger: Any, name: str, line: Line) -> Line:
    for key in line:
        if _SECRET_NAME.search(key):
            line[key] = CENSORED
    return line
