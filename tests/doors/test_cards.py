"""Cards over HTTP: made, seen, listed, changed, moved, put away, requeued."""

import pytest

from boards.models import Event
from tests.builders import event_types, make_due
from tests.doors.http import Http, pages

FULL = {
    "title": "Write about otters",
    "description": "Two pages, *with* sources.",
    "priority": 2,
    "labels": ["animals", "long read"],
    "due": "2031-05-01T12:00:00+02:00",
    "properties": {"words": 800, "tone": ["kind", "dry"], "draft": None},
    "payload": {"sources": [{"url": "https://example.org/?a=1&b=2"}]},
}


@pytest.fixture
def place(world):
    """Where new cards go."""
    return {"board_id": str(world.board), "column_id": str(world.queue)}


def titles(door, **query):
    return [
        card["title"] for page in pages(door, "/v1/cards", **query) for card in page
    ]


def test_a_card_comes_back_as_it_was_made(owner: Http, place):
    made = owner.post("/v1/cards", place | FULL)
    assert made.status_code == 201
    card = made.json()
    assert owner.get(made.headers["Location"]).json() == card
    assert made.headers["ETag"] == '"card-1"'
    assert {name: card[name] for name in FULL} == FULL | {"due": "2031-05-01T10:00:00Z"}
    assert (card["state"], card["attempts"], card["version"]) == ("open", 0, 1)
    assert card["created_by"]["handle"]
    assert card["key"] == "NOV-1"


def test_a_card_takes_its_place_beside_another(owner, place, world):
    def add(title, **where):
        return owner.post("/v1/cards", place | {"title": title} | where).json()["id"]

    second = add("second")
    add("first", before=second)
    add("fourth")
    add("third", after=second)
    add("zeroth", position="top")
    order = ["zeroth", "first", "second", "third", "fourth"]
    assert titles(owner, column_id=world.queue) == order


def test_a_card_that_must_wait_is_shown_as_waiting(owner, worker, place, queue):
    late = place | {"title": "Later", "not_before": "2100-01-01T00:00:00Z"}
    card = owner.post("/v1/cards", late).json()
    assert card["available_at"] == "2100-01-01T00:00:00Z"
    assert titles(owner, state="waiting") == ["Later"]
    assert worker.post(f"{queue}:claim-next").json()["reason"] == "waiting"
    make_due(card["id"])
    assert worker.post(f"{queue}:claim-next").json()["card"]["id"] == card["id"]


def test_many_cards_are_made_in_order(owner, place, world):
    new = [{"title": f"Card {number}"} for number in range(500)]
    made = owner.post("/v1/cards:bulk-create", place | {"cards": new})
    assert made.status_code == 201
    order = [f"Card {number}" for number in range(500)]
    assert [card["title"] for card in made.json()["cards"]] == order
    assert titles(owner, column_id=world.queue) == order


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"title": "\u200b"}, "/cards/7/title"),
        ({"title": "x", "priority": 9}, "/cards/7/priority"),
        ({"title": "x", "labels": [""]}, "/cards/7/labels"),
        ({"title": "x", "assignee": "nobody"}, "/cards/7/assignee"),
        ({"title": "x", "colour": "red"}, "/cards/7/colour"),
        ({}, "/cards/7/title"),
    ],
)
def test_of_many_cards_all_are_made_or_none(owner, place, wrong, pointer):
    new = [{"title": f"Card {number}"} for number in range(10)]
    new[7] = wrong
    refused = owner.post("/v1/cards:bulk-create", place | {"cards": new})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == pointer
    assert titles(owner) == []


def test_a_call_takes_at_most_500_cards(owner, place):
    for count in (0, 501):
        new = [{"title": "Card"}] * count
        refused = owner.post("/v1/cards:bulk-create", place | {"cards": new})
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["pointer"] == "/cards"


def test_cards_are_found_by_what_is_known_of_them(owner, worker, place, world, queue):
    labels = {"labels": ["animals", "sea"], "assignee": "@" + world.worker.handle}
    owner.post("/v1/cards", place | {"title": "Otters"} | labels)
    owner.post("/v1/cards", place | {"title": "Goats", "labels": ["animals"]})
    owner.post("/v1/cards", place | {"title": "100%", "description": "sum_total"})
    assert titles(owner, labels="animals") == ["Otters", "Goats"]
    assert titles(owner, labels="animals,sea") == ["Otters"]
    assert titles(owner, assignee=world.worker.handle) == ["Otters"]
    assert titles(owner, q="OAT") == ["Goats"]
    assert titles(owner, q="0%") == ["100%"]
    assert titles(owner, q="m_t") == ["100%"]
    assert titles(owner, q="\\") == []
    assert titles(owner, state="claimed") == []
    worker.post(f"{queue}:claim-next")
    assert titles(owner, state="claimed") == ["Otters"]
    assert titles(owner, holder="@" + world.worker.handle) == ["Otters"]
    assert titles(owner, board_id=world.board, state="open") == ["Goats", "100%"]


def test_a_patch_changes_what_it_names_and_is_an_event(owner, place):
    card = owner.post("/v1/cards", place | FULL).json()
    path = f"/v1/cards/{card['id']}"
    changed = owner.patch(path, {"title": "New", "due": None, "labels": []}).json()
    same = {"version", "updated_at", "title", "due", "labels"}
    assert (changed["title"], changed["due"], changed["labels"]) == ("New", None, [])
    assert changed["version"] == 2
    for name in card.keys() - same:
        assert changed[name] == card[name], name
    last = Event.objects.filter(card_id=card["id"]).latest("sequence")
    assert (last.type, last.sequence) == ("card.updated", 2)
    assert last.data == {"changed": ["due", "labels", "title"]}


def test_a_patch_that_changes_nothing_is_no_event(owner, place):
    card = owner.post("/v1/cards", place | FULL).json()
    path = f"/v1/cards/{card['id']}"
    assert owner.patch(path, {"title": FULL["title"]}).json() == card
    assert event_types(card["id"]) == ["card.created"]


@pytest.mark.parametrize("value", [True, 1.0, [1], "1", None, {"n": 1}])
def test_one_and_true_are_not_the_same_property(owner, place, value):
    card = owner.post("/v1/cards", place | FULL | {"properties": {"n": 1}}).json()
    path = f"/v1/cards/{card['id']}"
    changed = owner.patch(path, {"properties": {"n": value}}).json()["properties"]
    assert repr(changed["n"]) == repr(value)


def test_a_card_moves_and_takes_the_state_of_where_it_arrives(owner, place, world):
    card = owner.post("/v1/cards", place | {"title": "Otters"}).json()
    path = f"/v1/cards/{card['id']}"
    moved = owner.post(f"{path}:move", {"column_id": str(world.done)}).json()
    assert (moved["column_id"], moved["state"]) == (str(world.done), None)
    back = owner.post(f"{path}:move", {"column_id": str(world.queue)}).json()
    assert (back["column_id"], back["state"]) == (str(world.queue), "open")


def test_a_card_moves_to_another_board_of_the_workspace(owner, place, world):
    board = owner.post("/v1/boards", {"name": "Other", "columns": ["In"]}).json()
    columns = owner.get(f"/v1/boards/{board['id']}/columns").json()["items"]
    card = owner.post("/v1/cards", place | {"title": "Otters"}).json()
    moved = owner.post(f"/v1/cards/{card['id']}:move", {"column_id": columns[0]["id"]})
    assert moved.json()["board_id"] == board["id"]
    assert moved.json()["key"] == card["key"]


def test_a_neighbour_must_stand_in_the_column(owner, place, world):
    card = owner.post("/v1/cards", place | {"title": "Otters"}).json()
    elsewhere = world.add(column=world.done)
    refused = owner.post(f"/v1/cards/{card['id']}:move", {"before": str(elsewhere)})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/before"


def test_an_archived_card_is_out_of_sight_until_restored(owner, worker, place, queue):
    card = owner.post("/v1/cards", place | {"title": "Otters"}).json()
    path = f"/v1/cards/{card['id']}"
    assert owner.post(f"{path}:archive").json()["archived_at"]
    assert titles(owner) == []
    assert titles(owner, archived="true") == ["Otters"]
    assert worker.post(f"{queue}:claim-next").json()["reason"] == "drained"
    assert owner.post(f"{path}:archive").json()["version"] == 2
    assert owner.post(f"{path}:restore").json()["archived_at"] is None
    assert worker.post(f"{queue}:claim-next").json()["card"]["id"] == card["id"]


def test_a_failed_card_gets_another_round(owner, world):
    world.add()
    card = world.fail_card(requeue=False)
    path = f"/v1/cards/{card}"
    assert owner.get(path).json()["column_id"] == str(world.failed)
    again = owner.post(f"{path}:requeue")
    assert again.status_code == 200
    assert (again.json()["state"], again.json()["attempts"]) == ("open", 0)
    assert owner.post(f"{path}:requeue").json() == again.json()


def test_a_card_that_is_no_job_cannot_be_requeued(owner, world):
    card = world.add(column=world.done)
    refused = owner.post(f"/v1/cards/{card}:requeue")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_requeueable")


def test_requeueing_takes_a_role_where_the_card_goes(owner, worker, world):
    """A done card may have been moved to another board since."""
    world.add()
    held = world.claim()
    worker.post(
        f"/v1/leases/{held.lease.id}:complete", {"lease_token": held.lease_token}
    )
    board = worker.post("/v1/boards", {"name": "Mine", "columns": ["In"]}).json()
    column = worker.get(f"/v1/boards/{board['id']}/columns").json()["items"][0]
    card = f"/v1/cards/{held.card.id}"
    moved = owner.post(f"{card}:move", {"column_id": column["id"]})
    assert moved.json()["state"] == "done"
    owner.put(
        f"/v1/boards/{world.board}/members/{world.worker.handle}", {"role": "viewer"}
    )
    refused = worker.post(f"{card}:requeue")
    assert refused.status_code == 403
    assert worker.get(card).json()["board_id"] == board["id"]
