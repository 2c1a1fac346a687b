"""Boards and who may do what on them, over HTTP."""

from accounts.roles import WorkspaceRole
from tests.builders import a_person
from tests.doors.http import Http, door_of, pages


def test_a_board_is_made_with_its_columns_and_found_where_location_says(owner: Http):
    made = owner.post("/v1/boards", {"name": "News", "columns": ["In", "Out"]})
    assert made.status_code == 201
    board = made.json()
    assert made.headers["Location"] == f"/v1/boards/{board['id']}"
    assert board["your_role"] == "manager"
    assert owner.get(made.headers["Location"]).json() == board
    columns = owner.get(f"/v1/boards/{board['id']}/columns").json()
    assert [column["name"] for column in columns["items"]] == ["In", "Out"]


def test_a_patch_changes_what_it_names_and_nothing_else(owner, world):
    path = f"/v1/boards/{world.board}"
    before = owner.get(path).json()
    after = owner.patch(path, {"description": "Texts *only*"})
    assert after.status_code == 200
    assert after.json() == before | {"description": "Texts *only*"}
    private = owner.patch(path, {"default_role": None}).json()
    assert private["default_role"] is None
    assert owner.patch(path, {}).json() == private


def test_an_archived_board_leaves_the_list_and_takes_no_changes(owner, world, queue):
    path = f"/v1/boards/{world.board}"
    assert owner.post(f"{path}:archive").json()["archived_at"]
    assert str(world.board) not in listed(owner)
    assert str(world.board) in listed(owner, archived="true")
    card = {"board_id": str(world.board), "column_id": str(world.queue), "title": "X"}
    refused = owner.post("/v1/cards", card)
    assert (refused.status_code, refused.json()["code"]) == (409, "board_archived")
    assert owner.post(f"{queue}:claim-next").json()["code"] == "board_archived"
    assert owner.post(f"{path}:restore").json()["archived_at"] is None
    assert owner.post("/v1/cards", card).status_code == 201


def listed(door, **query):
    return [
        board["id"] for page in pages(door, "/v1/boards", **query) for board in page
    ]


def test_archiving_a_board_somebody_works_on_takes_force(owner, worker, world, queue):
    world.add()
    held = worker.post(f"{queue}:claim-next").json()
    refused = owner.post(f"/v1/boards/{world.board}:archive")
    assert refused.status_code == 409
    assert refused.json()["code"] == "card_held"
    assert refused.json()["current"]["holder"] == f"@{world.worker.handle}"
    forced = owner.post(f"/v1/boards/{world.board}:archive", {"force": True})
    assert forced.json()["archived_at"]
    lease = owner.get(f"/v1/leases/{held['lease']['id']}").json()
    assert lease["state"] == "revoked"


def test_a_member_gets_a_role_of_their_own_and_loses_it_again(owner, world):
    handle = world.worker.handle
    path = f"/v1/boards/{world.board}/members"
    given = owner.put(f"{path}/{handle}", {"role": "viewer"})
    assert given.status_code == 200
    roles = {one["actor"]["handle"]: one["role"] for one in given.json()["items"]}
    assert roles == {world.owner.handle: "manager", handle: "viewer"}
    assert owner.get(path).json() == given.json()
    taken = owner.put(f"{path}/{handle}", {"role": None}).json()
    assert [one["actor"]["handle"] for one in taken["items"]] == [world.owner.handle]


def test_nobody_gets_a_role_by_a_handle_that_nobody_has(owner, world):
    refused = owner.put(f"/v1/boards/{world.board}/members/nobody", {"role": "viewer"})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/handle"


def test_a_private_board_does_not_exist_for_those_without_a_role(owner, world):
    outsider = door_of(a_person(world.workspace, WorkspaceRole.MEMBER))
    path = f"/v1/boards/{world.board}"
    assert outsider.get(path).status_code == 200
    owner.patch(path, {"default_role": None})
    assert outsider.get(path).status_code == 404
    assert str(world.board) not in listed(outsider)
    assert owner.get(path).status_code == 200
