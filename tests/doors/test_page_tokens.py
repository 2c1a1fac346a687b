"""A page token is taken by the list that gave it, asked for the same as before (AIP-158).

Walks over all operations that page. A new one needs a way to fill it, and a filter that
its token doesn't know of fails here.
"""

from uuid import uuid4

import pytest

from accounts.pages import encode_cursor
from novum.operations.operation import PageInput
from novum.operations.registry import OPERATIONS
from novum.rest.listing import listing
from supervision.bulk import actions
from supervision.bulk.planning import Selection
from supervision.bulk.rules import Doing
from supervision.letters import LetterFilter
from tasks_people.verbs.messages import send
from tests.builders import a_person, a_seat, a_token
from tests.doors.recipes import Sent, sent
from tests.supervision.dead import a_dead_letter

PAGED = {one.name: one for one in OPERATIONS if issubclass(one.input, PageInput)}
FIELDS = {one["name"]: one["fields"] for one in listing()["operations"]}
COUNT = 3


@pytest.fixture
def lists(world, owner, queue):
    """What every operation that pages is asked, with COUNT things or more in its list."""
    world.add_many(COUNT)
    owner.post(f"{queue}:claim-next", {"count": COUNT})
    card, seat = world.add("Commented"), a_seat(world.workspace)
    for number in range(COUNT):
        owner.post(f"/v1/cards/{card}/comments", {"text": f"{number}"})
        owner.post("/v1/boards", {"name": f"Board {number}"})
        a_token(seat)
        a_seat(world.workspace)
        a_person(world.workspace)
        send(world.worker, to=world.owner.handle, topic="plans", payload=number)
        fill_parts(world, owner)
    action = [bulk_action(world, COUNT) for _ in range(COUNT)][-1]
    for _ in range(COUNT):
        a_dead_letter(world)
    values = {name: {} for name in PAGED} | {
        "list_leases": {"board_id": world.board, "state": "all"},
        "list_comments": {"card_id": card},
        "list_tokens": {"agent_id": seat.pk},
        "list_bulk_results": {"bulk_action_id": action},
    }
    return {name: Sent(given) for name, given in values.items()}


def fill_parts(world, owner):
    """The lists of what can be taken away."""
    by_name = {one.name: one for one in OPERATIONS}
    if "create_webhook_endpoint" in by_name:
        create = by_name["create_webhook_endpoint"]
        assert sent(create, world, world.owner).by(owner, create).status_code == 201
        sent(by_name["get_webhook_delivery"], world, world.owner)


def bulk_action(world, number):
    for _ in range(number):
        a_dead_letter(world)
    doing = Doing("discard", reason="Old")
    made = actions.start(world.owner, doing, Selection(wanted=LetterFilter()))
    return made.action.id


def ask(owner, name, values, **more):
    return Sent(values | more).by(owner, PAGED[name])


def first_token(owner, name, values):
    token = ask(owner, name, values, page_size=1).json()["next_page_token"]
    assert token, f"{name} has no second page: fill it"
    return token


def is_refused(answer):
    return (answer.status_code, answer.json()["code"]) == (400, "bad_cursor")


def others(field, value):
    """Values of a filter that aren't this one."""
    schema = field["schema"]
    kinds = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]
    for kind in kinds:
        if "enum" in kind:
            yield from (
                one for one in kind["enum"] if one not in (value, default(field))
            )
        elif kind["type"] == "boolean":
            yield "false" if value or default(field) else "true"
        elif kind.get("format") == "uuid":
            yield uuid4()
        elif kind.get("format") == "date-time":
            yield "2031-01-01T00:00:00Z"
        else:
            assert kind["type"] == "string", field
            yield "else"


def default(field):
    return field["schema"].get("default")


def test_a_token_given_with_another_filter_is_refused(owner, lists):
    tried = 0
    for name, call in lists.items():
        token = first_token(owner, name, call.values)
        for field in FIELDS[name]:
            if field["name"] in PageInput.__struct_fields__:
                continue
            for value in others(field, call.values.get(field["name"])):
                more = {field["name"]: value, "page_token": token}
                answer = ask(owner, name, call.values, **more)
                assert is_refused(answer), (name, more, answer.content)
                tried += 1
    assert tried > 50


def test_a_token_given_to_another_list_is_refused(owner, lists):
    tokens = {name: first_token(owner, name, one.values) for name, one in lists.items()}
    for name, call in lists.items():
        for other, token in tokens.items():
            answer = ask(owner, name, call.values, page_token=token)
            if name == other:
                assert answer.status_code == 200, (name, answer.content)
            else:
                assert is_refused(answer), (name, other, answer.content)


def test_a_cursor_of_the_feed_is_taken_by_no_list(owner, lists, world):
    cursor = encode_cursor(1, world.board)
    assert owner.get("/v1/events", after=cursor).status_code == 200
    for name, call in lists.items():
        assert is_refused(ask(owner, name, call.values, page_token=cursor)), name


def test_a_token_given_with_another_size_of_the_page_is_taken(owner, lists):
    for name, call in lists.items():
        token = first_token(owner, name, call.values)
        whole = ask(owner, name, call.values, page_size=COUNT).json()["items"]
        page = ask(owner, name, call.values, page_token=token, page_size=COUNT - 1)
        ids = [identity(one) for one in page.json()["items"]]
        assert ids == [identity(one) for one in whole[1:]], name


def identity(item):
    """What doesn't change from one look to the next."""
    inner = item.get("card") or item.get("agent") or item
    return inner.get("id") or inner["card_id"]


def test_a_negative_size_is_a_400_for_each_list(owner, lists):
    for name, call in lists.items():
        answer = ask(owner, name, call.values, page_size=-1)
        assert answer.status_code == 400, name
        assert answer.json()["errors"][0]["pointer"] == "/page_size"
