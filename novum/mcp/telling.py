"""What a tool says of itself, and what it says when something goes wrong."""

from typing import Any

import msgspec

from novum.operations.advice import NEXT_STEPS, next_step
from novum.operations.operation import Operation
from novum.problems import Problem

# Longer ones are cut by clients, and cost every agent at every turn.
MAX_DESCRIPTION = 600
_WHO = {"anybody": "", "person": " of a person", "admin": " of a workspace admin"}


def describe(operation: Operation) -> str:
    """What it does, what must be so before, what to do on each error of its own. The
    errors that every tool can answer are explained once, in the instructions."""
    return " ".join(
        part
        for part in (
            operation.summary,
            operation.doc,
            _needs(operation),
            *(_on(code) for code in operation.errors),
        )
        if part
    )


def _needs(operation: Operation) -> str:
    whose = _WHO.get(operation.who, f", board role {operation.who}")
    return f"Needs a token with scope {operation.scope}{whose}."


def _on(code: str) -> str:
    step = NEXT_STEPS.get(code)
    return f"On {code}: {step[0].lower()}{step[1:]}" if step else ""


def error_text(problem: Problem) -> str:
    """JSON with the stable `code`, what happened (`detail`, `errors`, `current`) and
    the `next_step`. Clients hand the text of an error to the model as it is."""
    told: dict[str, Any] = {"code": problem.code, "detail": problem.detail}
    if problem.errors:
        told["errors"] = problem.errors
    if problem.current is not None:
        told["current"] = problem.current
    if problem.retry_after_seconds is not None:
        told["retry_after_seconds"] = problem.retry_after_seconds
    if problem.status >= 500:
        told["request_id"] = problem.request_id
    told["next_step"] = next_step(problem)
    return msgspec.json.encode(told).decode()
