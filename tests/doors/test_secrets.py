"""A receipt is in its claim's reply alone, a worker token in the reply that made it.

A whole shift is worked with real secrets, errors and all; then every reply, every row,
every log line and everything in Redis is searched for them.
"""

import json
import logging

import pytest
import redis
from django.db import connection

from leases.verbs import give_back
from novum.operations.registry import OPERATIONS
from tests.builders import World, a_world
from tests.doors.http import Http, door_of, let_lapse
from tests.doors.recipes import sent


class Ear(Http):
    """Hears every reply."""

    heard: list[tuple[str, str]]

    def __call__(self, method, path, body=None, **more):
        answer = super().__call__(method, path, body, **more)
        self.heard.append((f"{method} {path}", told(answer)))
        return answer


def told(answer) -> str:
    headers = "\n".join(f"{name}: {value}" for name, value in answer.headers.items())
    return f"{headers}\n\n{answer.content.decode()}"


@pytest.fixture
def world(transactional_db) -> World:
    return a_world(output_schema={"type": "object"})


@pytest.fixture
def shift(world, queue, caplog, capfd, monkeypatch):
    """Work a shift: the secrets that were given out, and all that was heard."""
    for name in ("", "django", "django.db.backends", "psycopg"):
        caplog.set_level(logging.DEBUG, name or None)
    connection.force_debug_cursor = True
    heard: list[tuple[str, str]] = []
    owner = door_of(world.owner)
    made = owner.post(f"/v1/agents/{world.worker.actor_id}/tokens", {"name": "Laptop"})
    worker = Ear(made.json()["secret"])
    worker.heard = heard
    everybody = Ear(owner.token, client=owner.client)
    everybody.heard = heard
    receipts = work(world, worker, everybody, queue)
    break_down(worker, receipts[-1], monkeypatch)
    look_around(world, everybody)
    connection.force_debug_cursor = False
    return {
        "tokens": [worker.token, owner.token],
        "receipts": receipts,
        "heard": heard,
        "log": caplog.text + "".join(str(vars(one)) for one in caplog.records),
        "output": "".join(capfd.readouterr()),
    }


def work(world, worker, owner, queue) -> list[tuple[str, str]]:
    """Every way in which a lease can end and a call can go wrong; (id, receipt)s."""
    world.add_many(12)
    given = []

    def claim(**more):
        answer = worker.post(f"{queue}:claim-next", **more).json()
        given.append((answer["lease"]["id"], answer["lease_token"]))
        return f"/v1/leases/{given[-1][0]}", {"lease_token": given[-1][1]}

    key = {"Idempotency-Key": "shift"}
    lease, receipt = claim(headers=key)
    claim(headers=key)
    worker.post(f"{lease}:renew", receipt)
    worker.post(f"{lease}:complete", receipt | {"output": "no object"})
    worker.post(f"{lease}:complete", receipt | {"output": {}, "oops": 1})
    worker.post(f"{lease}:complete", receipt | {"output": {}})
    worker.post(f"{lease}:complete", receipt | {"output": {}})
    for verb in ("fail", "release"):
        lease, receipt = claim()
        worker.post(f"{lease}:{verb}", receipt)
        worker.post(f"{lease}:{verb}", receipt)
    lease, receipt = claim()
    owner.post(f"{lease}:revoke")
    worker.post(f"{lease}:complete", receipt)
    lease, receipt = claim()
    let_lapse(given[-1][0])
    worker.post(f"{lease}:renew", receipt)
    many = {"leases": [{"lease_id": given[-1][0], **receipt}]}
    worker.post("/v1/leases:renew", many)
    worker.post("/v1/leases:complete", many)
    claim()
    worker.post(f"{lease}:fail", {"lease_token": [receipt["lease_token"]]})
    return given


def break_down(worker, given, monkeypatch) -> None:
    def look(*arguments, **named):
        raise RuntimeError("out of order")

    with monkeypatch.context() as broken:
        broken.setattr(give_back, "_end", look)
        lease, receipt = given
        answer = worker.post(f"/v1/leases/{lease}:fail", {"lease_token": receipt})
        assert answer.status_code == 500
    wrong = Ear(worker.token[:-1] + "0")
    wrong.heard = worker.heard
    wrong.get("/v1/me")


def look_around(world, owner) -> None:
    """Every operation that only reads."""
    for operation in OPERATIONS:
        if not operation.changes:
            sent(operation, world, world.owner).by(owner, operation)
    for path in (
        f"/v1/boards/{world.board}/leases?state=all",
        f"/v1/agents/{world.worker.actor_id}/tokens",
        "/v1/me/leases",
        "/v1/cards",
        "/v1/events?limit=200",
        "/v1/openapi.json",
    ):
        path, _, query = path.partition("?")
        owner.get(path, **dict(one.split("=") for one in query.split("&") if one))


def in_the_database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        found = []
        for (table,) in cursor.fetchall():
            cursor.execute(f'SELECT to_jsonb(t)::text FROM "{table}" t')
            found += [row for (row,) in cursor.fetchall()]
    return "\n".join(found)


def in_redis(url: str) -> str:
    client = redis.Redis.from_url(url)
    found = []
    for key in client.scan_iter():
        kind = client.type(key)
        found.append(repr(key))
        if kind == b"string":
            found.append(repr(client.get(key)))
        elif kind == b"list":
            found.append(repr(client.lrange(key, 0, -1)))
        elif kind == b"hash":
            found.append(repr(client.hgetall(key)))
    return "\n".join(found)


def test_a_receipt_is_in_the_reply_to_its_claim_alone(shift):
    assert len(shift["receipts"]) == 7
    for lease, receipt in shift["receipts"]:
        for call, reply in shift["heard"]:
            if receipt[5:] in reply:
                assert call.endswith(":claim-next")
                assert json.loads(reply.partition("\n\n")[2])["lease"]["id"] == lease


def test_a_worker_token_is_in_no_reply(shift):
    for token in shift["tokens"]:
        for call, reply in shift["heard"]:
            assert token[5:-6] not in reply, call


def test_no_secret_is_at_rest_or_in_a_log(shift, settings):
    secrets = [*shift["tokens"], *(receipt for _, receipt in shift["receipts"])]
    places = {
        "database": in_the_database(),
        "redis": in_redis(settings.REDIS_URL),
        "log": shift["log"],
        "output": shift["output"],
    }
    assert "out of order" in places["log"]
    assert "INSERT INTO" in places["log"]
    for name, text in places.items():
        for secret in secrets:
            body = secret[5:]
            assert body not in text, name
            assert body.encode().hex() not in text, name
