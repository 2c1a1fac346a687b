"""Who may do what: every operation for every kind of caller.

The expected answer is derived from the operation's own declaration (`who`, `scope`):
what can't be seen is a 404, what can be seen but not done a 403, and whatever is
refused leaves every row of the database as it was.
"""

import pytest
from django.http import HttpResponse

from accounts.models import WorkerToken
from novum.operations.operation import Operation
from novum.operations.registry import OPERATIONS
from tests.builders import World
from tests.connections import undone
from tests.doors.principals import (
    BOARD_ROLES,
    REFUSED,
    Principal,
    forget,
    principals,
    stored,
)
from tests.doors.recipes import RECIPES, sent


def status_of(answer: HttpResponse) -> int:
    """A call for many leases answers for each of them inside of a 200."""
    told = answer.json() if answer.content else None
    results = told.get("results") if isinstance(told, dict) else None
    if results and results[0]["error"]:
        return REFUSED[results[0]["error"]["code"]]
    return answer.status_code


def test_every_operation_has_a_recipe_and_every_recipe_an_operation():
    assert set(RECIPES) == {operation.name for operation in OPERATIONS}


def test_every_declaration_says_who_and_by_which_scope():
    for operation in OPERATIONS:
        assert operation.who in {*BOARD_ROLES, "admin", "anybody", "person"}, (
            operation.name
        )
        assert operation.scope in WorkerToken.Scope.values, operation.name


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_who_may_and_who_may_not(world, operation):
    for principal in principals(world):
        ask(world, operation, principal)


def ask(world: World, operation: Operation, principal: Principal) -> None:
    with undone():
        call = sent(operation, world, principal.caller)
        forget()
        before = stored()
        answer = call.by(principal.door, operation)
        wanted = principal.may(operation)
        assert status_of(answer) == wanted, (principal.name, answer.content)
        if wanted >= 400:
            assert stored() == before, principal.name
        elif operation.changes:
            assert stored() != before, principal.name
    forget()
