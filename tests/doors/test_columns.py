"""Columns and their contracts, over HTTP."""

import pytest

from tests.builders import a_world


@pytest.fixture
def columns(world):
    return f"/v1/boards/{world.board}/columns"


def names(door, columns):
    return [column["name"] for column in door.get(columns).json()["items"]]


def test_a_column_is_made_at_the_right_end(owner, columns):
    made = owner.post(columns, {"name": "Later", "wip_limit": 3, "color": "teal"})
    assert made.status_code == 201
    assert owner.get(made.headers["Location"]).json() == made.json()
    assert made.json()["wip_limit"] == 3
    assert names(owner, columns)[-1] == "Later"


def test_a_column_is_renamed_and_its_limit_taken_away(owner, columns):
    path = owner.post(columns, {"name": "Later", "wip_limit": 3}).headers["Location"]
    changed = owner.patch(path, {"name": "Soon", "wip_limit": None}).json()
    assert (changed["name"], changed["wip_limit"]) == ("Soon", None)


def test_columns_move_beside_one_another(owner, columns, world):
    assert names(owner, columns) == ["Drafting", "Done", "Needs attention"]
    failed = f"{columns}/{world.failed}:move"
    assert owner.post(failed, {"before": str(world.done)}).status_code == 200
    assert names(owner, columns) == ["Drafting", "Needs attention", "Done"]
    owner.post(failed, {"position": "top"})
    assert names(owner, columns) == ["Needs attention", "Drafting", "Done"]
    owner.post(failed, {"after": str(world.done)})
    assert names(owner, columns) == ["Drafting", "Done", "Needs attention"]


def test_two_places_at_once_are_no_place(owner, columns, world):
    refused = owner.post(
        f"{columns}/{world.failed}:move", {"before": str(world.done), "position": "top"}
    )
    assert refused.status_code == 422


def test_a_full_column_is_deleted_only_with_a_place_for_its_cards(
    owner, columns, world
):
    path = owner.post(columns, {"name": "Later"}).headers["Location"]
    card = world.add(column=owner.get(path).json()["id"])
    assert owner.delete(path).json()["code"] == "column_not_empty"
    gone = owner.delete(path, move_cards_to=world.done)
    assert (gone.status_code, gone.content) == (204, b"")
    assert owner.get(path).status_code == 404
    assert owner.get(f"/v1/cards/{card}").json()["column_id"] == str(world.done)


def test_a_queue_is_not_deleted(owner, queue):
    refused = owner.delete(queue)
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")


def test_a_contract_is_replaced_as_a_whole(owner, queue, world):
    first = owner.put(
        f"{queue}/contract",
        {
            "enabled": True,
            "max_attempts": 2,
            "backoff_seconds": [1, 5],
            "concurrency_limit": 4,
            "on_success_column_id": str(world.done),
            "output_schema": {"type": "object"},
        },
    )
    assert first.status_code == 200
    assert first.json()["concurrency_limit"] == 4
    assert owner.get(f"{queue}/contract").json() == first.json()
    second = owner.put(f"{queue}/contract", {"enabled": True}).json()
    assert second == first.json() | {
        "max_attempts": 5,
        "backoff_seconds": [],
        "concurrency_limit": None,
        "on_success_column_id": None,
        "output_schema": None,
        "version": first.json()["version"] + 1,
    }


def test_a_column_without_a_contract_has_the_defaults_switched_off(owner, columns):
    path = owner.post(columns, {"name": "Later"}).headers["Location"]
    contract = owner.get(f"{path}/contract").json()
    assert (contract["enabled"], contract["lease_ttl_seconds"]) == (False, 300)


@pytest.mark.parametrize(
    ("terms", "pointer"),
    [
        ({"max_attempts": 0}, "/max_attempts"),
        ({"lease_ttl_seconds": 86_401}, "/lease_ttl_seconds"),
        ({"concurrency_limit": -1}, "/concurrency_limit"),
        ({"backoff_seconds": [2, 1]}, "/backoff_seconds/1"),
        ({"backoff_seconds": [1.5]}, "/backoff_seconds/0"),
        ({"queue": "No Name"}, "/queue"),
        ({"input_schema": {"type": "objekt"}}, "/input_schema/type"),
        ({"output_schema": {"$ref": "http://127.0.0.1:1/x"}}, "/output_schema/$ref"),
        ({"max_attempts": "x"}, "/max_attempts"),
        ({"lease_ttl_seconds": True}, "/lease_ttl_seconds"),
        ({"max_tries": 3}, "/max_tries"),
        ({"board_id": "x"}, "/board_id"),
    ],
)
def test_a_contract_that_does_not_fit_says_where(owner, queue, terms, pointer):
    before = owner.get(f"{queue}/contract").json()
    refused = owner.put(f"{queue}/contract", {"enabled": True, **terms})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_contract")
    assert refused.json()["errors"][0]["pointer"] == pointer
    assert owner.get(f"{queue}/contract").json() == before


def test_what_is_no_object_is_no_contract(owner, queue):
    refused = owner.put(f"{queue}/contract", [{"enabled": True}])
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_contract")


def test_a_contract_does_not_lead_to_another_board(owner, queue):
    elsewhere = a_world()
    refused = owner.put(
        f"{queue}/contract",
        {"enabled": True, "on_success_column_id": str(elsewhere.done)},
    )
    assert refused.json()["code"] == "invalid_contract"
    assert refused.json()["errors"][0]["pointer"] == "/on_success_column_id"


def test_a_queue_with_work_in_hand_is_switched_off_only_with_force(
    owner, worker, queue, world
):
    world.add()
    worker.post(f"{queue}:claim-next")
    refused = owner.put(f"{queue}/contract", {"enabled": False})
    assert (refused.status_code, refused.json()["code"]) == (409, "cards_held")
    assert refused.json()["current"]["holders"] == [f"@{world.worker.handle}"]
    forced = owner.put(f"{queue}/contract", {"enabled": False, "force": True})
    assert forced.json()["enabled"] is False
    assert worker.post(f"{queue}:claim-next").json()["code"] == "not_a_queue"
