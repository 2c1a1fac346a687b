"""Canaries: no receipt, token, signing secret or header value where it doesn't belong."""

import logging

import pytest
from django.db import connection
from django.test import Client

from accounts.models import Actor
from leases.verbs.complete import complete
from leases.verbs.give_back import fail
from tests.builders import a_world, receipt
from tests.doors.http import door_of
from tests.doors.test_secrets import in_the_database
from tests.webhooks import receivers
from tests.webhooks.conftest import delivering, listen, settled, until
from tests.webhooks.receivers import receiving
from webhooks.models import Delivery, Endpoint
from webhooks.verbs.endpoints import rotate_secret

CANARY = "canary-value-of-a-header"


@pytest.fixture
def world(transactional_db):
    return a_world()


@pytest.fixture
def shift(world, caplog, capfd):
    """A shift with deliveries that go well and ill: its secrets, and all that's seen."""
    for name in ("", "django", "django.db.backends", "psycopg", "webhooks"):
        caplog.set_level(logging.DEBUG, name or None)
    connection.force_debug_cursor = True
    owner = door_of(world.owner)
    with receiving(receivers.failing_first(1)) as receiver, delivering():
        listener = listen(world, receiver, headers={"X-Key": CANARY})
        rotated = rotate_secret(world.owner, endpoint_id=listener.endpoint)
        world.add_many(3)
        held = [world.claim() for _ in range(3)]
        complete(world.worker, **receipt(held[0]))
        fail(world.worker, **receipt(held[1]))
        until(lambda: receiver.got and settled(listener))
    connection.force_debug_cursor = False
    seen = {
        "bodies": "".join(one.body.decode() for one in receiver.got),
        "log": caplog.text + "".join(str(vars(one)) for one in caplog.records),
        "output": "".join(capfd.readouterr()),
        "database": in_the_database(),
        "replies": replies(owner, listener.endpoint),
        "pages": pages(world, listener.endpoint),
    }
    headers = "".join(str(one.headers) for one in receiver.got)
    secrets = {
        "receipts": [one.lease_token[5:] for one in held],
        "token": [owner.token[5:-6]],
        "signing": [listener.secret[6:], rotated[6:]],
        "header": [CANARY],
    }
    return secrets, seen, headers


def replies(owner, endpoint):
    found = [owner.get("/v1/webhooks/endpoints"), owner.get("/v1/webhooks/deliveries")]
    found.append(owner.get(f"/v1/webhooks/endpoints/{endpoint}"))
    for row in Delivery.objects.all():
        found.append(owner.get(f"/v1/webhooks/deliveries/{row.pk}"))
        found.append(owner.post(f"/v1/webhooks/deliveries/{row.pk}:resend"))
    return "".join(one.content.decode() for one in found)


def pages(world, endpoint):
    client = Client()
    client.force_login(Actor.objects.get(pk=world.owner.actor_id).user)
    addresses = ["/webhooks", f"/webhooks/{endpoint}"]
    addresses += [
        f"/webhooks/deliveries/{one}"
        for one in Delivery.objects.values_list("pk", flat=True)
    ]
    return "".join(client.get(one).content.decode() for one in addresses)


def test_no_secret_is_where_it_does_not_belong(shift):
    secrets, seen, headers = shift
    assert "card.lease.completed" in seen["bodies"]
    assert "INSERT INTO" in seen["log"]
    assert "card.lease.failed" in seen["pages"]
    for kind, values in secrets.items():
        for value in values:
            for place, text in seen.items():
                assert value not in text, (kind, place)
                assert value.encode().hex() not in text, (kind, place)
            assert (value in headers) == (kind == "header"), kind


def test_an_error_in_the_middle_of_a_delivery_tells_no_secret(
    world, caplog, monkeypatch
):
    from webhooks import loop

    def broken(*arguments):
        raise RuntimeError("out of order")

    with receiving() as receiver:
        listener = listen(world, receiver, headers={"X-Key": CANARY})
        monkeypatch.setattr(loop, "signatures", broken)
        world.add()
        with delivering():
            until(lambda: "out of order" in caplog.text)
    assert CANARY not in caplog.text
    assert listener.secret[6:] not in caplog.text
    assert Endpoint.objects.get().enabled
