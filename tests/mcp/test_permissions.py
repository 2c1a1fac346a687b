"""Who may do what by MCP: the same as by REST, operation by operation.

What can't be seen is `not_found`, what can't be done `forbidden`, and what is refused
leaves every row of the database as it was.
"""

import pytest
from django.db import transaction

from novum.operations.registry import OPERATIONS
from tests.doors.principals import Principal, forget, principals, stored
from tests.doors.recipes import RECIPES
from tests.mcp.door import Mcp

CODES = {401: {401}, 403: {"forbidden"}, 404: {"not_found", "unknown_queue"}}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_who_may_and_who_may_not(world, operation):
    for principal in principals(world):
        ask(world, operation, principal)


def ask(world, operation, principal: Principal) -> None:
    with transaction.atomic():
        arguments = RECIPES[operation.name](world, principal.caller)
        forget()
        before = stored()
        wanted = principal.may(operation)
        got = outcome(Mcp(principal.token), operation.name, arguments)
        assert got in CODES.get(wanted, {""}), (principal.name, got)
        if wanted >= 400:
            assert stored() == before, principal.name
        elif operation.changes:
            assert stored() != before, principal.name
        transaction.set_rollback(True)
    forget()


def outcome(door: Mcp, name: str, arguments) -> str | int:
    """The code of the error; a call for many leases has one for each of them."""
    if not door.token:
        return door.send("tools/call", name=name, arguments={}).status_code
    told = door.call(name, **arguments)
    results = (told.value or {}).get("results")
    if results and results[0].get("error"):
        return results[0]["error"]["code"]
    return told.code
