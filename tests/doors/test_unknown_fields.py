"""What an operation doesn't know is refused by name, never passed over: a typo in
`lease_ttl_secconds` must not become a default."""

from itertools import chain

import pytest
from django.apps import apps

from novum.operations.registry import OPERATIONS
from tests.doors.recipes import Sent, sent

WITH_INPUT = [one for one in OPERATIONS if one.name in ("create_card", "edit_card")]
# What the server alone decides; taken from all models.
OURS = sorted(
    {
        field.name
        for model in chain(
            *(apps.get_app_config(app).get_models() for app in ("boards", "leases"))
        )
        for field in model._meta.get_fields()
        if field.concrete
    }
    | {"workspace_id", "created_by_id", "holder_id", "is_staff", "role_id"}
)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_an_unknown_field_is_refused_by_name(world, owner, operation):
    call = sent(operation, world, world.owner)
    refused = Sent(call.values | {"surprise": "x"}).by(owner, operation)
    assert refused.status_code == 422
    (error,) = refused.json()["errors"]
    assert (error["pointer"], error["code"]) == ("/surprise", "unknown_field")


@pytest.mark.parametrize("operation", WITH_INPUT, ids=lambda one: one.name)
def test_what_the_server_decides_cannot_be_sent(world, owner, operation):
    call = sent(operation, world, world.owner)
    known = set(operation.input.__struct_fields__) - {"if_match"}
    for name in OURS:
        if name in known:
            continue
        refused = Sent(call.values | {name: 1}).by(owner, operation)
        assert refused.status_code == 422, name
        assert refused.json()["errors"][0]["pointer"] == f"/{name}"


@pytest.mark.parametrize("verb", ["renew", "complete"])
def test_an_unknown_field_of_one_among_many_is_refused_by_name(worker, world, verb):
    world.add()
    held = world.claim()
    one = {"lease_id": str(held.lease.id), "lease_token": held.lease_token}
    body = {"leases": [one | {"outptu": 1}]}
    refused = worker.post(f"/v1/leases:{verb}", body)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/leases/0/outptu"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_what_is_in_the_path_is_said_there_alone(world, owner, operation):
    values = sent(operation, world, world.owner).values
    in_path = [name for name in values if f"{{{name}}}" in operation.path]
    for name in in_path:
        path = f"/v1{operation.path}".format(**values)
        again = {name: str(values[name])}
        if operation.method in ("GET", "DELETE"):
            refused = owner(operation.method, path, query=again)
        else:
            refused = owner(operation.method, path, again)
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["pointer"] == f"/{name}"
