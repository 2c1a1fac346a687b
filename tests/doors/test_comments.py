"""Comments on cards, over HTTP."""

import pytest

from accounts.roles import WorkspaceRole
from tests.builders import a_person
from tests.doors.http import door_of, pages


@pytest.fixture
def comments(world):
    return f"/v1/cards/{world.add()}/comments"


def test_a_comment_is_made_seen_put_right_and_taken_back(owner, comments):
    made = owner.post(comments, {"text": "Where from?"})
    assert made.status_code == 201
    comment = made.json()
    own = made.headers["Location"]
    assert own == f"{comments}/{comment['id']}"
    assert owner.get(comments).json()["items"] == [comment]
    right = owner.patch(own, {"text": "Where *from*?"}).json()
    assert right["text"] == "Where *from*?"
    assert right["edited_at"]
    assert owner.delete(own).status_code == 204
    assert owner.get(comments).json()["items"] == []
    assert owner.delete(own).status_code == 404


def test_comments_come_oldest_first(owner, worker, comments):
    for number, door in enumerate((owner, worker, owner)):
        door.post(comments, {"text": f"{number}"})
    found = pages(owner, comments, page_size=2)
    assert [[one["text"] for one in page] for page in found] == [["0", "1"], ["2"]]


def test_what_somebody_else_said_stays_but_a_manager_may_take_it_away(
    owner, worker, world, comments
):
    member = door_of(a_person(world.workspace, WorkspaceRole.MEMBER))
    own = worker.post(comments, {"text": "Mine"}).headers["Location"]
    assert member.patch(own, {"text": "Yours"}).status_code == 403
    assert owner.patch(own, {"text": "Yours"}).status_code == 403
    assert member.delete(own).status_code == 403
    assert owner.get(comments).json()["items"][0]["text"] == "Mine"
    assert owner.delete(own).status_code == 204


def test_a_comment_is_found_under_its_own_card_only(owner, world, comments):
    comment = owner.post(comments, {"text": "Mine"}).json()["id"]
    elsewhere = f"/v1/cards/{world.add()}/comments/{comment}"
    assert owner.patch(elsewhere, {"text": "Moved"}).status_code == 404
    assert owner.delete(elsewhere).status_code == 404
    assert owner.get(comments).json()["items"][0]["text"] == "Mine"


@pytest.mark.parametrize("text", ["", " \n", "x" * 20_001])
def test_a_comment_says_something_and_not_too_much(owner, comments, text):
    refused = owner.post(comments, {"text": text})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/text"
