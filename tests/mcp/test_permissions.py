"""Who may do what by MCP: the same as by REST, operation by operation.

What can't be seen is `not_found`, what can't be done `forbidden`. That a refusal leaves
every row as it was is looked at once for each operation here, and for each caller by
REST (tests/doors/test_permissions.py): both doors call the same thing.
"""

import pytest

from novum.operations.registry import OPERATIONS
from tests.connections import undone
from tests.doors.principals import Principal, forget, principals, stored
from tests.doors.recipes import RECIPES
from tests.mcp.door import Mcp

CODES = {401: {401}, 403: {"forbidden"}, 404: {"not_found", "unknown_queue"}}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_who_may_and_who_may_not(world, operation):
    looked = False
    for principal in principals(world):
        refused = principal.may(operation) in (403, 404)
        ask(world, operation, principal, looks=refused and not looked)
        looked = looked or refused
    assert looked


def ask(world, operation, principal: Principal, *, looks: bool) -> None:
    with undone():
        arguments = RECIPES[operation.name](world, principal.caller)
        forget()
        before = stored() if looks else None
        wanted = principal.may(operation)
        got = outcome(Mcp(principal.token), operation.name, arguments)
        assert got in CODES.get(wanted, {""}), (principal.name, got)
        assert before == (stored() if looks else None), principal.name
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
