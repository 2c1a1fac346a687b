"""The console script `novum`: a client of the REST door, made of what the door tells.

It knows no operation. It imports the standard library and nothing of the server, so that
it starts in a few hundredths of a second.
"""

import importlib
import os
import sys

from novum.cli import output
from novum.cli.errors import (
    BROKEN_PIPE,
    DONE,
    FAULT,
    INTERRUPTED,
    USAGE,
    Failure,
    Refused,
)
from novum.cli.options import Given, parse

# Commands that are more than one call, each in a module of its own with `run(given)`,
# which returns the exit code. Loaded when used.
COMMANDS = {
    "help": "novum.cli.commands.helping",
    "login": "novum.cli.commands.login",
    "logout": "novum.cli.commands.logout",
    "watch": "novum.cli.commands.watch",
    "work": "novum.cli.commands.work",
    "doctor": "novum.cli.commands.doctor",
    "completion": "novum.cli.commands.completion",
    "__complete": "novum.cli.commands.candidates",
}
OPERATION = "novum.cli.commands.operation"


def main(arguments: list[str] | None = None) -> int:
    """The exit code (novum.cli.errors)."""
    given = Given()
    try:
        given = parse(sys.argv[1:] if arguments is None else arguments)
        return run(given)
    except Refused as error:
        return _tell_refusal(error, raw=given.flag("--raw"))
    except Failure as error:
        if error.text:
            output.say(error.text)
        return error.code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read has seen enough. Python would try once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception:
        import traceback

        traceback.print_exc()
        return FAULT


def run(given: Given) -> int:
    if not given.words and not given.options:
        given.words = ["help"]
        module = COMMANDS["help"]
        importlib.import_module(module).run(given)
        return USAGE
    if not given.words:
        given.words = ["help"]
    elif given.flag("--help"):
        given.words = ["help", given.words[0]]
    module = COMMANDS.get(given.words[0], OPERATION)
    return int(importlib.import_module(module).run(given) or DONE)


def _tell_refusal(error: Refused, *, raw: bool) -> int:
    if raw:
        sys.stderr.buffer.write(error.body.rstrip() + b"\n")
    else:
        output.say(error.text)
    return error.code
