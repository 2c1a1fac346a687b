"""The judgement: jsonschema's 2020-12 validator with the parts that bite changed.

Nothing here opens a connection: references are followed within the schema only. And
nothing outlasts the time it is given by more than the work on one value.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import Any

import msgspec
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import create
from referencing import Registry

from leases.schemas.applicators import APPLICATORS
from leases.schemas.assertions import ASSERTIONS
from leases.schemas.clock import RUN, Run, TooSlow, tick
from leases.schemas.evaluated import unevaluated_items, unevaluated_properties
from leases.schemas.pointers import pointer
from leases.schemas.wording import cut

MAX_PROBLEMS = 20
DEFAULT_SECONDS = 1.0
# A compiled schema takes some 7 KB as a rule, 0.8 MB at the limits of `accept`.
_CACHED_SCHEMAS = 64


class Problem(msgspec.Struct, frozen=True):
    """One way in which a value does not fit: where, which keyword, and why.

    `pointer` is a JSON Pointer (RFC 6901) into the value. `code` is the keyword
    that failed ("false" for the schema `false`), `too_slow` or `cannot_judge`.
    """

    pointer: str
    code: str
    detail: str


def problems(
    schema: object, instance: object, *, seconds: float = DEFAULT_SECONDS
) -> list[Problem]:
    """Why the instance does not fit a schema that `accept` has let pass.

    An empty list: it fits. At most 20 problems, always in the same order. Never
    raises: work beyond `seconds` of processor time ends as one problem with the
    code `too_slow`, and what the engine cannot do (a schema that was never
    accepted, a value nested hundreds of levels) as one `cannot_judge`.
    ``format`` asserts, for the formats of `leases.schemas.formats`. Messages
    quote no more than 60 characters of a value. Safe to call from many threads.
    """
    try:
        validator, parts = _compiled(msgspec.json.encode(schema, order="sorted"))
        running = RUN.set(Run(validator.schema, parts, seconds))
        try:
            errors = validator.iter_errors(instance)
            return [_problem(each) for each in islice(errors, MAX_PROBLEMS)]
        finally:
            RUN.reset(running)
    except TooSlow:
        detail = f"The value could not be judged within {seconds:g} seconds."
        return [Problem("", "too_slow", detail)]
    except Exception as error:
        # Whatever breaks must cost one answer, never a worker's attempt.
        detail = f"The value cannot be judged ({type(error).__name__})."
        return [Problem("", "cannot_judge", detail)]


def _problem(error: ValidationError) -> Problem:
    at = pointer(error.absolute_path)
    if error.validator is None:
        return Problem(at, "false", "nothing is allowed here")
    return Problem(at, str(error.validator), cut(error.message))


def _applicable(schema: Any) -> Iterable[tuple[str, Any]]:
    # The library asks this at each step into a schema: the place for the clock.
    tick()
    items: Iterable[tuple[str, Any]] = schema.items()
    return items


def _keywords() -> dict[str, Any]:
    return {
        **Draft202012Validator.VALIDATORS,
        **ASSERTIONS,
        **APPLICATORS,
        "unevaluatedItems": unevaluated_items,
        "unevaluatedProperties": unevaluated_properties,
    }


_Validator = create(
    meta_schema=Draft202012Validator.META_SCHEMA,
    validators=_keywords(),
    type_checker=Draft202012Validator.TYPE_CHECKER,
    applicable_validators=_applicable,
)


@lru_cache(maxsize=_CACHED_SCHEMAS)
def _compiled(text: bytes) -> tuple[Any, dict[int, Any]]:
    schema = msgspec.json.decode(text)
    if isinstance(schema, dict):
        # With it the library would go on with its own class instead of ours.
        schema.pop("$schema", None)
    parts: dict[int, Any] = {}
    running = RUN.set(Run(schema, parts, DEFAULT_SECONDS))
    try:
        return _Validator(schema, registry=Registry()), parts
    finally:
        RUN.reset(running)
