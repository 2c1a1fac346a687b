"""ETag, If-Match and If-None-Match (RFC 9110): nobody overwrites what they haven't
seen."""

import pytest


@pytest.fixture
def card(world):
    return f"/v1/cards/{world.add()}"


CHANGES = [
    ("PATCH", "", {"title": "New"}),
    ("POST", ":move", {"position": "top"}),
    ("POST", ":archive", {}),
]


@pytest.mark.parametrize(("method", "verb", "body"), CHANGES)
@pytest.mark.parametrize(
    "tag", ['"card-2"', '"card-0"', "card-x", '""', 'W/"card-1"', '"card-' + "9" * 30]
)
def test_a_change_of_another_version_is_refused(owner, card, method, verb, body, tag):
    before = owner.get(card).json()
    refused = owner(method, card + verb, body, headers={"If-Match": tag})
    assert (refused.status_code, refused.json()["code"]) == (412, "version_mismatch")
    assert owner.get(card).json() == before


@pytest.mark.parametrize(("method", "verb", "body"), CHANGES)
@pytest.mark.parametrize("tag", ['"card-1"', "*"])
def test_a_change_of_the_version_seen_is_made(owner, card, method, verb, body, tag):
    made = owner(method, card + verb, body, headers={"If-Match": tag})
    assert made.status_code == 200
    assert made.headers["ETag"] == '"card-2"'


def test_of_two_changes_to_one_version_the_second_is_told_the_present_one(owner, card):
    tag = {"If-Match": owner.get(card).headers["ETag"]}
    assert owner.patch(card, {"title": "Mine"}, headers=tag).status_code == 200
    refused = owner.patch(card, {"title": "Yours"}, headers=tag)
    assert refused.status_code == 412
    assert refused.json()["current"]["version"] == 2
    assert owner.get(card).json()["title"] == "Mine"


def test_the_version_is_said_in_the_header_alone(owner, card):
    refused = owner.patch(card, {"title": "New", "if_match": '"card-1"'})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/if_match"


@pytest.mark.parametrize("tag", ['"card-1"', 'W/"card-1"', '"x", "card-1"', "*"])
def test_what_is_known_is_not_sent_again(owner, card, tag):
    answer = owner("GET", card, headers={"If-None-Match": tag})
    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["ETag"] == '"card-1"'
    head = owner("HEAD", card, headers={"If-None-Match": tag})
    assert head.status_code == 304


@pytest.mark.parametrize("tag", ['"card-2"', '"card-11"', "card-1", ""])
def test_what_is_not_known_is_sent(owner, card, tag):
    answer = owner("GET", card, headers={"If-None-Match": tag})
    assert answer.status_code == 200
    assert answer.json()["version"] == 1


def test_a_renewal_leaves_the_version_as_it_is(worker, world, queue):
    world.add()
    held = worker.post(f"{queue}:claim-next").json()
    card = f"/v1/cards/{held['card']['id']}"
    tag = worker.get(card).headers["ETag"]
    receipt = {"lease_token": held["lease_token"]}
    worker.post(f"/v1/leases/{held['lease']['id']}:renew", receipt)
    assert worker.get(card).headers["ETag"] == tag
