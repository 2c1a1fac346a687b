"""What a form of the admin changes goes through the verb: its rules, its events."""

import json

import pytest

from accounts.models import Actor, User, Workspace
from accounts.roles import BoardRole, WorkspaceRole
from boards import access
from boards.models import Board, Card, Column, Event
from boards.verbs.boards import archive_board, create_board, set_board_member
from boards.verbs.cards import edit_card
from boards.verbs.columns import delete_column
from leases.models import Contract, Slot
from tests.admin.pages import (
    change_page,
    errors_of,
    form_of,
    list_page,
    page,
    sign_in,
    user_of,
)
from tests.builders import a_person, a_seat, a_workspace, a_world, card_row


def change(admin, row, **fields):
    url = change_page(row)
    return admin.post(url, form_of(admin, url) | fields)


def add(admin, model, **fields):
    url = page(model, "add")
    return admin.post(url, form_of(admin, url) | fields)


def last_event(**which):
    return Event.objects.filter(**which).order_by("-id").first()


def saved(answer):
    assert answer.status_code == 302, errors_of(answer)
    return True


# Cards


def test_a_card_is_changed_by_its_verb(world, admin):
    card = card_row(world.add("Old"))
    assert saved(change(admin, card, title="New", labels="a, b\nc", priority="1"))
    changed = card_row(card.pk)
    assert (changed.title, changed.labels, changed.priority) == (
        "New",
        ["a, b", "c"],
        1,
    )
    assert changed.version == card.version + 1
    event = last_event(card_id=card.pk)
    assert event.type == "card.updated"
    assert event.data == {"changed": ["labels", "priority", "title"]}
    assert event.actor_id == world.owner.actor_id


def test_a_form_saved_as_it_came_changes_nothing(world, admin):
    id = world.add(
        "Card", labels=["a, b", "c"], properties={"n": 1}, payload=[None, "ü"]
    )
    edit_card(world.owner, card_id=id, assignee=world.worker.handle)
    before = Card.objects.filter(pk=id).values().get()
    assert saved(change(admin, card_row(id)))
    assert Card.objects.filter(pk=id).values().get() == before


def test_an_old_page_does_not_undo_what_others_have_done(world, admin):
    card = card_row(world.add("First"))
    sent = form_of(admin, change_page(card))
    edit_card(world.owner, card_id=card.pk, title="Second")
    answer = admin.post(change_page(card), sent | {"priority": "1"})
    assert "has changed" in str(errors_of(answer))
    assert (card_row(card.pk).title, card_row(card.pk).priority) == ("Second", 3)


def test_a_held_card_keeps_its_holder_whatever_is_sent(world, admin):
    world.add()
    held = world.claim()
    card = card_row(held.card.id)
    forged = {"state": "open", "lease_id": "", "holder": "", "attempts": "0"}
    assert saved(change(admin, card, title="Retitled", **forged))
    now = card_row(card.pk)
    assert (now.title, now.state, now.lease_id) == (
        "Retitled",
        "claimed",
        card.lease_id,
    )
    assert (now.holder_id, now.attempts) == (card.holder_id, 1)


def test_a_refusal_of_the_verb_stands_at_its_field_and_keeps_the_input(world, admin):
    stranger = a_seat(a_workspace())
    card = card_row(world.add("Old"))
    answer = change(admin, card, title="Kept input", assignee=str(stranger.pk))
    assert "Nobody here is" in str(errors_of(answer)["assignee"])
    assert b"Kept input" in answer.content
    assert card_row(card.pk).title == "Old"
    assert not admin.get(page(Card, "history", card.pk)).context["action_list"]


@pytest.mark.parametrize("text", ["[1]", '"text"', "7", "{"])
def test_properties_must_be_an_object(world, admin, text):
    card = card_row(world.add())
    assert "properties" in errors_of(change(admin, card, properties=text))


@pytest.mark.parametrize(
    "text",
    ['{"a": NaN}', '[1, "\\u0000"]', '"\\\\\\u0000"', '["\\ud800"]', "[" * 50_000, "{"],
    ids=["NaN", "NUL", "NUL behind a backslash", "half a surrogate", "deep", "cut"],
)
def test_what_the_database_cannot_store_is_refused_in_words(world, admin, text):
    card = card_row(world.add())
    answer = change(admin, card, payload=text)
    assert "Enter JSON" in str(errors_of(answer)["payload"])
    assert card_row(card.pk).payload is None


def test_a_backslash_before_zeros_is_no_nul(world, admin):
    card = card_row(world.add())
    assert saved(change(admin, card, payload='"\\\\u0000"'))
    assert card_row(card.pk).payload == "\\u0000"


def test_a_new_card_is_made_by_its_verb(world, admin):
    sent = {"column": str(world.queue), "title": "New", "priority": "2"}
    assert saved(
        add(admin, Card, labels="x", assignee=str(world.worker.actor_id), **sent)
    )
    card = Card.objects.get()
    assert (card.title, card.priority, card.labels) == ("New", 2, ["x"])
    assert (card.state, card.number, card.created_by_id) == (
        "open",
        1,
        world.owner.actor_id,
    )
    assert card.assignee_id == world.worker.actor_id
    assert last_event(card_id=card.pk).type == "card.created"


def test_a_card_of_an_archived_board_is_only_looked_at(world, admin):
    card = card_row(world.add())
    archive_board(world.owner, board_id=world.board)
    assert 'name="_save"' not in admin.get(change_page(card)).content.decode()
    assert admin.post(change_page(card), {"title": "New"}).status_code == 403


# Boards and columns


def test_a_board_is_changed_by_its_verb(world, admin):
    board = Board.objects.get()
    assert saved(change(admin, board, name="New", default_role=""))
    board.refresh_from_db()
    assert (board.name, board.default_role) == ("New", None)
    assert last_event(board_id=board.pk).type == "board.updated"


def test_a_board_with_a_name_nobody_can_see_is_refused(world, admin):
    answer = change(admin, Board.objects.get(), name="\u200b")
    assert "can be seen" in str(errors_of(answer)["name"])


def test_a_new_board_has_its_maker_as_manager(world, admin):
    sent = {"workspace": str(world.workspace.pk), "name": "New", "default_role": "1"}
    assert saved(add(admin, Board, **sent))
    board = Board.objects.get(name="New")
    assert board.default_role == BoardRole.VIEWER
    member = board.members.get()
    assert (member.actor_id, member.role) == (world.owner.actor_id, BoardRole.MANAGER)
    assert last_event(board_id=board.pk).type == "board.created"


def test_a_column_is_changed_by_its_verb(world, admin):
    column = Column.objects.get(pk=world.queue)
    assert saved(change(admin, column, name="New", wip_limit="7"))
    column.refresh_from_db()
    assert (column.name, column.wip_limit, column.is_queue) == ("New", 7, True)
    assert last_event(column_id=column.pk).type == "column.updated"


def test_a_new_column_comes_to_the_end_of_its_board(world, admin):
    assert saved(add(admin, Column, board=str(world.board), name="New"))
    assert Column.objects.order_by("position").last().name == "New"
    assert last_event().type == "column.created"


def test_a_deleted_column_is_only_looked_at(world, admin):
    column = Column.objects.get(pk=world.done)
    delete_column(world.owner, board_id=world.board, column_id=column.pk)
    column.refresh_from_db()
    assert admin.post(change_page(column), {"name": "New"}).status_code == 403


# Contracts


def test_a_contract_is_set_by_its_verb(world, admin):
    contract = Contract.objects.get()
    fields = {"max_attempts": "2", "backoff_seconds": "1,5", "concurrency_limit": "3"}
    schema = {"type": "object", "required": ["payload"]}
    assert saved(change(admin, contract, input_schema=json.dumps(schema), **fields))
    changed = Contract.objects.get()
    assert (changed.max_attempts, changed.backoff_seconds) == (2, [1, 5])
    assert (changed.input_schema, changed.on_success_column_id) == (schema, world.done)
    assert changed.version == contract.version + 1
    # What else the verb does: the column mirrors it, and the limit has its slots.
    column = Column.objects.get(pk=world.queue)
    assert (column.is_queue, column.checks_input) == (True, True)
    assert Slot.objects.count() == 3
    assert last_event().type == "column.contract.updated"


def test_a_contract_saved_as_it_came_stays_as_it_is(world, admin):
    world.set(
        lease_ttl_seconds=None, output_schema={"type": "object"}, backoff_seconds=[1, 2]
    )
    before = Contract.objects.values().get()
    assert saved(change(admin, Contract.objects.get()))
    after = Contract.objects.values().get()
    for changing in ("version", "updated_at"):
        del before[changing], after[changing]
    assert after == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("output_schema", '{"type": "nonsense"}'),
        ("input_schema", '{"$ref": "https://example.com/schema"}'),
        ("backoff_seconds", "5,1"),
        ("lease_ttl_seconds", "86401"),
        ("max_attempts", "1001"),
        ("concurrency_limit", "0"),
        ("queue", "Not-Small"),
    ],
)
def test_terms_that_do_not_fit_are_refused_at_their_field(world, admin, field, value):
    before = Contract.objects.values().get()
    answer = change(admin, Contract.objects.get(), **{field: value})
    assert field in errors_of(answer)
    assert Contract.objects.values().get() == before


def test_a_column_of_another_board_is_no_destination(world, admin):
    other = a_world()
    answer = change(
        admin, Contract.objects.get(pk=world.queue), on_success_column=str(other.done)
    )
    assert "on this board" in str(errors_of(answer)["on_success_column"])


def test_a_queue_in_use_is_not_switched_off_here(world, admin):
    world.add()
    world.claim()
    sent = form_of(admin, change_page(Contract.objects.get()))
    del sent["enabled"]
    answer = admin.post(change_page(Contract.objects.get()), sent)
    assert "being worked on" in str(errors_of(answer))
    assert Contract.objects.get().enabled


def test_a_column_becomes_a_queue(world, admin):
    column = world.column("Later")
    card = world.add(column=column)
    sent = {"column": str(column), "queue": "later", "enabled": "on"}
    assert saved(add(admin, Contract, **sent))
    assert Contract.objects.get(pk=column).version == 1
    assert card_row(card).state == "open"


# Who may


@pytest.mark.parametrize("model", [Board, Column, Card, Contract])
def test_who_is_no_member_looks_but_changes_nothing(model, world, client):
    world.add()
    stranger = user_of(a_person(a_workspace()))
    sign_in(client, stranger, is_superuser=True)
    row = model.objects.first()
    before = model.objects.filter(pk=row.pk).values().get()
    text = client.get(change_page(row)).content.decode()
    assert 'name="_save"' not in text
    assert client.post(change_page(row), {"name": "x", "title": "x"}).status_code == 403
    assert model.objects.filter(pk=row.pk).values().get() == before


def test_who_is_no_member_adds_nothing(world, client):
    sign_in(client, user_of(a_person(a_workspace())), is_superuser=True)
    for model, sent in (
        (Card, {"column": str(world.queue), "title": "x", "priority": "3"}),
        (Column, {"board": str(world.board), "name": "x"}),
        (Board, {"workspace": str(world.workspace.pk), "name": "x"}),
        (Contract, {"column": str(world.done), "queue": "x"}),
    ):
        before = model.objects.count()
        assert "member of no workspace" in str(errors_of(add(client, model, **sent)))
        assert model.objects.count() == before


def test_the_role_on_the_board_decides_not_the_staff_flag(world, client):
    person = a_person(world.workspace, WorkspaceRole.MEMBER)
    sign_in(client, user_of(person), is_superuser=True)
    card, board = card_row(world.add()), Board.objects.get()
    # An editor by the board's default.
    assert saved(change(client, card, title="New"))
    assert client.post(change_page(board), {"name": "New"}).status_code == 403
    set_board_member(
        world.owner, board_id=board.pk, handle=person.handle, role=BoardRole.VIEWER
    )
    assert client.post(change_page(card), {"title": "Newer"}).status_code == 403
    set_board_member(
        world.owner, board_id=board.pk, handle=person.handle, role=BoardRole.MANAGER
    )
    access.forget()
    assert saved(change(client, board, name="New"))


# Workspaces, people, agents


def test_a_workspace_is_made_and_keeps_its_slug_and_key(world, admin):
    assert saved(add(admin, Workspace, name="New", slug="new", key="NEW"))
    made = Workspace.objects.get(slug="new")
    assert saved(change(admin, made, name="Newer", slug="x", key="X"))
    made.refresh_from_db()
    assert (made.name, made.slug, made.key) == ("Newer", "new", "NEW")


def test_a_person_gets_a_login_and_a_membership(world, admin, client):
    secret = "a long enough one"
    sent = {"username": "eve", "handle": "eve", "usable_password": "true"}
    assert saved(add(admin, User, password1=secret, password2=secret, **sent))
    user = User.objects.get(username="eve")
    assert user.check_password(secret)
    person = {"workspace": str(world.workspace.pk), "kind": "person"}
    person |= {"user": str(user.pk), "role": str(WorkspaceRole.MEMBER)}
    assert saved(add(admin, Actor, **person))
    assert Actor.objects.get(handle="eve").role == WorkspaceRole.MEMBER


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "person"},
        {"kind": "agent", "role": "1"},
        {"kind": "agent", "handle": "Not small"},
    ],
)
def test_an_actor_is_a_person_or_an_agent(world, admin, wrong):
    sent = {"workspace": str(world.workspace.pk), "handle": "new", "name": "New"}
    assert errors_of(add(admin, Actor, **(sent | wrong)))
    assert not Actor.objects.filter(name="New").exists()


def test_a_handle_is_taken_once(world, admin):
    sent = {"workspace": str(world.workspace.pk), "kind": "agent", "name": "New"}
    assert errors_of(add(admin, Actor, handle=world.worker.handle, **sent))


def test_a_seat_is_renamed_but_never_becomes_another(world, admin):
    seat = a_seat(world.workspace)
    forged = {"handle": "other", "kind": "person", "role": "3"}
    assert saved(change(admin, seat, name="New", **forged))
    after = Actor.objects.get(pk=seat.pk)
    assert (after.name, after.handle, after.kind, after.role) == (
        "New",
        seat.handle,
        "agent",
        None,
    )


def test_actors_are_disabled_and_enabled(world, admin):
    seat, person = a_seat(world.workspace), a_person(world.workspace)
    chosen = [str(seat.pk), str(person.actor_id)]
    both = Actor.objects.filter(pk__in=chosen)
    for action, none_left in (("disable", False), ("enable", True)):
        sent = {"action": action, "_selected_action": chosen}
        admin.post(list_page(Actor), sent)
        assert [one.disabled_at is None for one in both.all()] == [none_left] * 2


def test_nobody_is_disabled_by_staff_of_another_workspace(world, client):
    sign_in(client, user_of(a_person(a_workspace())), is_superuser=True)
    sent = {"action": "disable", "_selected_action": [str(world.worker.actor_id)]}
    answer = client.post(list_page(Actor), sent, follow=True)
    assert "member of no workspace" in answer.content.decode()
    assert Actor.objects.get(pk=world.worker.actor_id).disabled_at is None


def test_an_archived_board_lies_open_to_look_at(world, admin):
    board = create_board(world.owner, name="Old")
    archive_board(world.owner, board_id=board)
    assert admin.get(change_page(Board.objects.get(pk=board))).status_code == 200
