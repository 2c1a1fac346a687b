"""Endpoints by REST: what may be said, what is told, and what never is."""

import pytest

from accounts.models import Actor
from accounts.roles import WorkspaceRole
from tests.builders import a_person, a_world
from tests.doors.http import door_of
from tests.webhooks.recipes import URL, a_failed_delivery, an_endpoint
from webhooks import catalogue, conf, keys
from webhooks.keys import Unopenable, opened, seal
from webhooks.models import Cursor, Delivery, Endpoint, Secret
from webhooks.signing import new_secret, signatures
from webhooks.verbs.endpoints import create_endpoint, rotate_secret
from webhooks.verbs.fan_out import fan_out
from webhooks.verbs.forget import forget
from webhooks.verbs.switch_off import switch_off_orphaned
from webhooks.verbs.take import destinations, take

ENDPOINTS = "/v1/webhooks/endpoints"


@pytest.fixture
def owner(world):
    return door_of(world.owner)


@pytest.fixture
def world(db):
    return a_world()


def test_an_endpoint_is_made_with_its_secret_shown_once(owner):
    answer = owner.post(
        ENDPOINTS,
        {"url": URL, "types": ["*"], "headers": {"X-Key": "hidden-value"}},
        headers={"Idempotency-Key": "one"},
    )
    assert answer.status_code == 201
    made = answer.json()
    assert made["secret"].startswith("whsec_")
    assert made["endpoint"]["header_names"] == ["X-Key"]
    again = owner.post(
        ENDPOINTS,
        {"url": URL, "types": ["*"], "headers": {"X-Key": "hidden-value"}},
        headers={"Idempotency-Key": "one"},
    ).json()
    assert (again["secret"], again["endpoint"]["id"]) == (None, made["endpoint"]["id"])
    page = f"{ENDPOINTS}/{made['endpoint']['id']}"
    for answer in (owner.get(page), owner.get(ENDPOINTS), owner.patch(page, {})):
        assert made["secret"] not in answer.content.decode()
        assert "hidden-value" not in answer.content.decode()
    assert made["secret"] not in str(Secret.objects.values())
    assert "hidden-value" not in str(Endpoint.objects.values())


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"url": "http://example.com/"}, "/url"),
        ({"url": "https://localhost/"}, "/url"),
        ({"url": "https://10.0.0.1/"}, "/url"),
        ({"types": []}, "/types"),
        ({"types": ["card.lease.eaten"]}, "/types"),
        ({"types": ["card*"]}, "/types"),
        ({"types": ["x.*"]}, "/types"),
        ({"types": ["*"] * 51}, "/types"),
        ({"boards": ["018f0000-0000-7000-8000-000000000000"]}, "/boards"),
        ({"description": "x" * 201}, "/description"),
        ({"headers": {"Host": "x"}}, "/headers"),
        ({"headers": {"webhook-id": "x"}}, "/headers"),
        ({"headers": {"Content-Length": "1"}}, "/headers"),
        ({"headers": {"Transfer-Encoding": "chunked"}}, "/headers"),
        ({"headers": {"X-A": "b\r\nX-Evil: 1"}}, "/headers"),
        ({"headers": {"X A": "b"}}, "/headers"),
        ({"headers": {"X-A": "ä"}}, "/headers"),
        ({"headers": {"X-A": ""}}, "/headers"),
        ({"headers": {"X-A": "1", "x-a": "2"}}, "/headers"),
        ({"headers": {f"X-{n}": "1" for n in range(21)}}, "/headers"),
    ],
)
def test_what_can_not_be_is_refused_at_save(owner, world, change, pointer):
    good = {"url": URL, "types": ["*"]}
    for answer in (
        owner.post(ENDPOINTS, good | change),
        owner.patch(f"{ENDPOINTS}/{an_endpoint(world)}", change),
    ):
        assert answer.status_code == 422, change
        assert answer.json()["errors"][0]["pointer"] == pointer
    assert Endpoint.objects.count() == 1


def test_a_board_of_another_workspace_is_none(owner, world):
    other = a_world()
    given = {"url": URL, "types": ["*"], "boards": [str(other.board)]}
    assert owner.post(ENDPOINTS, given).status_code == 422


def test_there_are_so_many_and_no_more(owner, world, monkeypatch):
    monkeypatch.setattr(conf, "MAX_ENDPOINTS", 2)
    given = {"url": URL, "types": ["*"]}
    statuses = [owner.post(ENDPOINTS, given).status_code for _ in range(3)]
    assert statuses == [201, 201, 409]


def test_a_test_event_needs_an_endpoint_that_is_on(owner, world):
    page = f"{ENDPOINTS}/{an_endpoint(world, types=['card.moved'])}"
    sent = owner.post(f"{page}:test")
    assert sent.status_code == 200
    assert sent.json()["body"]["type"] == catalogue.TEST
    owner.patch(page, {"enabled": False})
    for verb, body in (
        ("test", None),
        ("resend-failed", {"since": "2026-01-01T00:00:00Z"}),
    ):
        answer = owner.post(f"{page}:{verb}", body)
        assert (answer.status_code, answer.json()["code"]) == (409, "endpoint_off")


def test_what_failed_is_sent_again_from_a_moment_on(owner, world):
    endpoint = an_endpoint(world)
    for _ in range(3):
        a_failed_delivery(world, endpoint)
    page = f"{ENDPOINTS}/{endpoint}:resend-failed"
    late = owner.post(page, {"since": "2999-01-01T00:00:00Z"})
    assert late.json() == {"resent": 0}
    for since, number in (("1960-01-01T00:00:00Z", 3), ("2020-01-01T00:00:00Z", 0)):
        assert owner.post(page, {"since": since}).json() == {"resent": number}
    assert set(Delivery.objects.values_list("state", "tries")) == {("pending", 0)}


def test_deliveries_are_found_by_what_they_are(owner, world):
    one, two = an_endpoint(world), an_endpoint(world)
    card = world.add()
    failed = a_failed_delivery(world, one)
    Delivery.objects.filter(pk=failed.pk).update(card_id=card)
    owner.post(f"{ENDPOINTS}/{two}:test")
    deliveries = "/v1/webhooks/deliveries"

    def found(**query):
        return [item["id"] for item in owner.get(deliveries, **query).json()["items"]]

    assert len(found()) == 2
    assert found(endpoint_id=one) == [str(failed.pk)]
    assert found(state="failed") == [str(failed.pk)]
    assert found(type="card.*") == [str(failed.pk)]
    assert found(card_id=card) == [str(failed.pk)]
    assert found(type="card.moved") == []
    first = owner.get(deliveries, page_size=1).json()
    rest = owner.get(deliveries, page_token=first["next_page_token"]).json()
    assert len(first["items"] + rest["items"]) == 2
    other = door_of(a_world().owner)
    assert other.get(deliveries).json()["items"] == []
    assert other.get(deliveries, endpoint_id=one).status_code == 404


def test_who_is_no_admin_any_more_is_told_nothing(world):
    admin = a_person(world.workspace, WorkspaceRole.ADMIN)
    create_endpoint(admin, url=URL, types=["*"])
    endpoint = Endpoint.objects.get()
    Actor.objects.filter(pk=admin.actor_id).update(role=WorkspaceRole.MEMBER)
    a = Delivery.objects.create(endpoint=endpoint, event_id=endpoint.pk, type="x")
    assert destinations() == []
    assert switch_off_orphaned() == 1
    assert Endpoint.objects.get().off == Endpoint.Off.OWNER
    assert Delivery.objects.get(pk=a.pk).state == "pending"


def test_secrets_are_opened_with_any_key_of_the_list(monkeypatch):
    monkeypatch.setattr(conf, "KEYS", ["old"])
    sealed = seal("whsec_x")
    assert "whsec" not in sealed
    monkeypatch.setattr(conf, "KEYS", ["new", "old"])
    assert opened(sealed) == "whsec_x"
    monkeypatch.setattr(conf, "KEYS", ["new"])
    with pytest.raises(Unopenable):
        opened(sealed)
    monkeypatch.setattr(conf, "KEYS", [])
    assert keys.opened(keys.seal("y")) == "y"


def test_without_its_key_nothing_is_sent_unsigned(world, monkeypatch):
    from webhooks.verbs import take as taking

    monkeypatch.setattr(conf, "KEYS", ["old"])
    endpoint = an_endpoint(world)
    monkeypatch.setattr(conf, "KEYS", ["new"])
    taking._opened.cache_clear()
    Delivery.objects.create(endpoint_id=endpoint, event_id=endpoint, type="x")
    (to,) = destinations()
    assert to.keys == []
    assert "whsec" not in repr(take({endpoint: 1}, [to]))


def test_expired_secrets_do_not_sign(world):
    endpoint = an_endpoint(world)
    Delivery.objects.create(endpoint_id=endpoint, event_id=endpoint, type="x")
    newest = rotate_secret(world.owner, endpoint_id=endpoint, overlap_seconds=0)
    assert destinations()[0].keys == [newest]
    both = rotate_secret(world.owner, endpoint_id=endpoint)
    assert destinations()[0].keys == [both, newest]
    assert "whsec" not in repr(destinations())


def test_a_signature_is_that_of_the_standard():
    """The example of the public libraries' own tests."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body = b'{"test": 2432232314}'
    message = "msg_p5jXN8AQM9LWM0D4loKWxJek"
    assert signatures([secret], message, 1614265330, body) == (
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    )
    assert signatures([secret, secret], message, 1614265330, body).count("v1,") == 2
    assert len({new_secret() for _ in range(100)}) == 100


def test_every_event_that_can_be_has_a_name_in_the_catalogue():
    from boards import events

    names = {
        value
        for name, value in vars(events).items()
        if name.isupper() and isinstance(value, str) and " " not in value
    }
    assert names <= catalogue.KNOWN


@pytest.mark.parametrize(
    ("pattern", "yes"),
    [
        ("*", True),
        ("card.*", True),
        ("card.lease.*", True),
        ("card.lease.claimed", True),
        ("webhook.test", True),
        ("", False),
        ("card", False),
        ("card.", False),
        (".*", False),
        ("**", False),
        ("card.lease*", False),
        ("card.lease.claimed.*", False),
        ("CARD.*", False),
        ("card.*\n", False),
    ],
)
def test_a_pattern_matches_something_or_is_none(pattern, yes):
    assert catalogue.is_pattern(pattern) is yes


def test_where_nobody_listens_nothing_is_kept(world):
    world.add_many(3)
    assert fan_out() is False
    assert not Cursor.objects.exists()
    assert not Delivery.objects.exists()


def test_what_is_old_goes(world, monkeypatch):
    endpoint = an_endpoint(world)
    new = a_failed_delivery(world, endpoint)
    old = a_failed_delivery(world, endpoint)
    Delivery.objects.filter(pk=old.pk).update(
        event_id="018f0000-0000-7000-8000-000000000000"
    )
    monkeypatch.setattr(conf, "KEPT_DAYS", 0)
    assert forget() == 0
    monkeypatch.setattr(conf, "KEPT_DAYS", 14)
    assert forget() == 1
    assert list(Delivery.objects.values_list("pk", flat=True)) == [new.pk]
