"""The keywords that judge one value by itself.

Ours in place of the library's for RE2 instead of ``re``, linear ``uniqueItems``,
exact decimal ``multipleOf`` (19.99 is a multiple of 0.01), and for messages that
never copy a big value nor speak Python (``None``, ``True``).
"""

from collections.abc import Callable, Iterator
from decimal import Context, Decimal
from operator import ge, gt, le, lt
from typing import Any

from jsonschema.exceptions import ValidationError

from leases.schemas.clock import tick
from leases.schemas.formats import FORMATS
from leases.schemas.patterns import matches
from leases.schemas.wording import cut, kind, quote

type Errors = Iterator[ValidationError]
type Keyword = Callable[[Any, Any, Any, Any], Errors]

# Wide enough for the largest double modulo the smallest one, and for any integer
# that a JSON parser of Python lets in (4,300 digits).
_EXACT = Context(prec=6_000)


def _type(validator: Any, types: Any, instance: Any, schema: Any) -> Errors:
    wanted = (types,) if isinstance(types, str) else types
    for each in wanted:
        if validator.is_type(instance, each):
            return
    yield ValidationError(f"expected {' or '.join(wanted)}, got {kind(instance)}")


def _bound(
    type_name: str,
    measure: Callable[[Any], Any],
    fits: Callable[[Any, Any], bool],
    demand: str,
) -> Keyword:
    def keyword(validator: Any, limit: Any, instance: Any, schema: Any) -> Errors:
        # "not fits" and no mirrored comparison, so that NaN never fits.
        if validator.is_type(instance, type_name) and not fits(
            measure(instance), limit
        ):
            yield ValidationError(f"{quote(instance)} must {demand.format(limit)}")

    return keyword


def _multiple_of(validator: Any, step: Any, instance: Any, schema: Any) -> Errors:
    if not validator.is_type(instance, "number"):
        return
    if isinstance(step, int) and _is_whole(instance):
        rest: Any = int(instance) % step
    else:
        rest = _EXACT.remainder(Decimal(str(instance)), Decimal(str(step)))
    if rest:
        yield ValidationError(f"{quote(instance)} is not a multiple of {step}")


def _is_whole(number: float) -> bool:
    return isinstance(number, int) or number.is_integer()


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Errors:
    if isinstance(instance, str) and not matches(pattern, instance):
        yield ValidationError(f"{quote(instance)} does not match {quote(pattern)}")


def _format(validator: Any, name: str, instance: Any, schema: Any) -> Errors:
    check = FORMATS.get(name)
    if check and isinstance(instance, str) and not check(instance):
        yield ValidationError(f"{quote(instance)} is not a valid {name}")


def _const(validator: Any, wanted: Any, instance: Any, schema: Any) -> Errors:
    if fingerprint(instance) != fingerprint(wanted):
        yield ValidationError(f"{quote(instance)} is not {quote(wanted)}")


def _enum(validator: Any, values: Any, instance: Any, schema: Any) -> Errors:
    if isinstance(instance, str):
        is_offered = instance in values
    else:
        given = fingerprint(instance)
        is_offered = any(fingerprint(each) == given for each in values)
    if not is_offered:
        offered = cut(", ".join(quote(each) for each in values[:20]), 120)
        yield ValidationError(f"{quote(instance)} is not one of: {offered}")


def fingerprint(value: Any) -> Any:
    """Something hashable that is equal just when the JSON values are.

    JSON Schema's equality: 1 equals 1.0, true equals neither, order of members
    doesn't matter.
    """
    if isinstance(value, dict):
        return dict, frozenset((key, fingerprint(each)) for key, each in value.items())
    if isinstance(value, list):
        return tuple(map(fingerprint, value))
    return (bool, value) if isinstance(value, bool) else value


def _unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Errors:
    if not (wanted and isinstance(instance, list)):
        return
    seen: dict[Any, int] = {}
    for index, item in enumerate(instance):
        tick()
        first = seen.setdefault(fingerprint(item), index)
        if first != index:
            yield ValidationError(f"items {first} and {index} are equal")
            return


def _itself(value: Any) -> Any:
    return value


ASSERTIONS: dict[str, Keyword] = {
    "const": _const,
    "enum": _enum,
    "exclusiveMaximum": _bound("number", _itself, lt, "be less than {}"),
    "exclusiveMinimum": _bound("number", _itself, gt, "be greater than {}"),
    "format": _format,
    "maximum": _bound("number", _itself, le, "be at most {}"),
    "maxItems": _bound("array", len, le, "have at most {} items"),
    "maxLength": _bound("string", len, le, "have at most {} characters"),
    "maxProperties": _bound("object", len, le, "have at most {} properties"),
    "minimum": _bound("number", _itself, ge, "be at least {}"),
    "minItems": _bound("array", len, ge, "have at least {} items"),
    "minLength": _bound("string", len, ge, "have at least {} characters"),
    "minProperties": _bound("object", len, ge, "have at least {} properties"),
    "multipleOf": _multiple_of,
    "pattern": _pattern,
    "type": _type,
    "uniqueItems": _unique_items,
}
