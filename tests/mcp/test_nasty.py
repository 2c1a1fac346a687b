"""Hostile and merely odd arguments in every place that takes any: done, or refused with
a code and the place; never a fault of ours."""

import pytest

from novum.mcp.schemas import own_arguments
from novum.operations.registry import OPERATIONS
from tests.doors.http import token_of
from tests.doors.nasty import TEXTS, UNSTORABLE
from tests.doors.recipes import RECIPES
from tests.mcp.door import LEGACY, Mcp

ODD = [None, True, -1, 2**31, 2**53 - 1, 10**40, 0.5, 1e308, "", [], {}, [[]], {"": {}}]
ODD += ["x" * 200_001, *UNSTORABLE, *TEXTS[::7]]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_any_value_in_any_argument_is_taken_or_refused(world, operation):
    door = Mcp(token_of(world.owner), LEGACY)
    works = RECIPES[operation.name](world, world.owner)
    if "wait_seconds" in operation.input.__struct_fields__:
        works["wait_seconds"] = 0
    for name in [*operation.input.__struct_fields__, *own_arguments(operation), "x y"]:
        for value in ODD:
            if name == "wait_seconds" and value:
                continue
            told = door.call(operation.name, **{**works, name: value})
            assert told.code not in ("internal", "unavailable"), (name, value)
            if told.code == "invalid" and name == "x y":
                assert told.value["errors"][0]["pointer"].startswith("/")
