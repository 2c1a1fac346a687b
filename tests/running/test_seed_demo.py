"""The demo: real parts, one workspace, one private file."""

import json
import stat
from collections import Counter
from io import StringIO

import pytest
from django.core.management import call_command

from accounts.credentials import caller_of_actor, caller_of_token
from accounts.models import Actor, User, WorkerToken, Workspace
from accounts.verbs.agents import revoke_token
from boards.models import Board, Card, Column, Comment, Event
from boards.verbs.columns import create_column
from leases.models import Contract, Lease
from leases.verbs.claim import claim
from leases.verbs.complete import complete
from leases.verbs.set_contract import Terms, set_contract
from novum import demo
from tasks_people.stack import stack

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def data(settings, tmp_path):
    settings.NOVUM_DATA = tmp_path / "data"
    # Passwords are hashed in every test; how slowly, is tested in none.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    return settings.NOVUM_DATA


def seed() -> str:
    out = StringIO()
    call_command("seed_demo", stdout=out)
    return out.getvalue()


def facts(data):
    return json.loads((data / "demo.json").read_text())


def everything():
    models = (Workspace, User, Actor, WorkerToken, Board, Column, Contract, Card)
    models += (Comment, Lease, Event)
    return {model: list(model.objects.order_by("pk").values()) for model in models}


def titles(column):
    return Card.objects.filter(column__name=column).in_order()


def test_the_file_has_exactly_what_one_needs_to_start(data, settings):
    seed()
    found = facts(data)
    assert list(found) == [
        "url",
        "live_url",
        "username",
        "password",
        "worker_token",
        "workspace",
        "boards",
    ]
    assert found["url"] == settings.NOVUM_URL
    assert found["live_url"] == settings.NOVUM_LIVE_URL
    assert found["workspace"] == "demo"
    (board,) = found["boards"]
    assert list(board) == ["id", "name", "page", "columns"]
    assert board["page"] == f"/boards/{board['id']}"
    assert [column["name"] for column in board["columns"]] == [
        "Backlog",
        "Drafting",
        "Review",
        "Needs attention",
        "Published",
    ]
    for column in board["columns"]:
        assert list(column) == ["id", "name"]
        assert Column.objects.get(pk=column["id"]).name == column["name"]


def test_the_file_is_the_owners_alone_and_nothing_else_is_left(data):
    seed()
    assert [path.name for path in data.iterdir()] == ["demo.json"]
    assert stat.S_IMODE((data / "demo.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(data.stat().st_mode) == 0o700


def test_no_secret_is_printed(data):
    printed = seed()
    assert facts(data)["password"] not in printed
    assert facts(data)["worker_token"] not in printed


def test_its_login_opens_the_admin(data, client):
    seed()
    found = facts(data)
    assert client.login(username=found["username"], password=found["password"])
    assert client.get("/admin/").status_code == 200


def test_its_token_may_do_everything_the_first_steps_ask_for(data):
    seed()
    found = facts(data)
    (board,) = found["boards"]
    drafting = board["columns"][1]["id"]
    caller = caller_of_token(found["worker_token"])
    assert caller.handle == "drafter"
    assert caller.scopes == {"read", "work", "write", "manage"}
    board_id = Board.objects.get(pk=board["id"]).pk
    column_id = Column.objects.get(pk=drafting).pk
    one = claim(caller, board_id=board_id, column_id=column_id)
    complete(caller, lease_id=one.lease.id, lease_token=one.lease_token)
    terms = Terms(enabled=True, queue="drafting", paused=True)
    set_contract(caller, board_id=board_id, column_id=column_id, terms=terms)


def test_the_drafting_queue_holds_500_different_cards_that_can_be_claimed():
    seed()
    ready = titles("Drafting")
    assert ready.count() == 500
    assert len(set(ready.values_list("title", flat=True))) == 500
    assert set(ready.values_list("state", "attempts", "available_at", "fits")) == {
        ("open", 0, None, True)
    }
    by_priority = Counter(ready.values_list("priority", flat=True))
    assert by_priority[3] > 300
    assert by_priority[1] > 5
    assert by_priority[2] > 20
    assert 30 < ready.filter(due__isnull=False).count() < 150
    for payload in ready.values_list("payload", flat=True):
        assert set(payload) == {"url", "keywords", "word_count"}


def test_both_queues_have_the_contract_the_demo_promises():
    seed()
    drafting = Contract.objects.get(queue="drafting")
    assert drafting.enabled
    assert drafting.lease_ttl_seconds == 120
    assert drafting.max_attempts == 5
    assert drafting.backoff_seconds == [2, 5, 15, 60, 300]
    assert drafting.concurrency_limit == 20
    assert drafting.on_success_column.name == "Review"
    assert drafting.on_failure_column.name == "Needs attention"
    review = Contract.objects.get(queue="review")
    assert review.enabled
    assert review.on_success_column.name == "Published"
    assert review.on_failure_column.name == "Needs attention"


def test_a_published_card_went_through_both_queues_and_has_its_output():
    seed()
    card = titles("Published")[0]
    assert card.state == "done"
    assert card.output["draft"]
    assert card.properties == {"approved_by": "reviewer"}
    leases = Lease.objects.filter(card=card).order_by("id")
    assert [(one.holder.handle, one.state) for one in leases] == [
        ("drafter", "completed"),
        ("reviewer", "completed"),
    ]
    assert list(
        Event.objects.filter(card_id=card.pk)
        .order_by("sequence")
        .values_list("sequence", "type")
    ) == [
        (1, "card.created"),
        (2, "card.lease.claimed"),
        (3, "card.lease.completed"),
        (4, "card.lease.claimed"),
        (5, "card.commented"),
        (6, "card.lease.completed"),
    ]


def test_each_draft_is_on_its_own_card():
    seed()
    for card in (*titles("Published"), *titles("Review")):
        asked = dict((*demo.content.PUBLISHED, *demo.content.IN_REVIEW))
        assert card.output["draft"] == asked[card.title]


def test_the_failed_card_has_two_attempts_behind_it_and_a_remark():
    seed()
    (card,) = titles("Needs attention")
    assert (card.state, card.attempts) == ("failed", 2)
    leases = Lease.objects.filter(card=card).order_by("id")
    assert list(leases.values_list("attempt", "state", "outcome")) == [
        (1, "failed", "requeued"),
        (2, "failed", "dead_lettered"),
    ]
    assert all(leases.values_list("reason", flat=True))
    assert Comment.objects.get(card=card).author.handle == "ann"


def test_the_first_claim_gets_a_note_from_the_one_before(data):
    seed()
    caller = caller_of_token(facts(data)["worker_token"])
    column = Column.objects.get(name="Drafting")
    one = claim(caller, board_id=column.board_id, column_id=column.pk)
    (before,) = one.card.previous_attempts
    assert (before.state, before.note) == ("released", demo.content.HAND_OFF)


def test_people_have_something_before_them_from_the_drafter():
    seed()
    found = stack(caller_of_actor(demo.person()))
    assert found.total == 5
    assert found.now.task.priority == 1
    assert found.now.item.created_by.handle == "drafter"


def test_a_second_run_changes_nothing(data):
    seed()
    before, file = everything(), data / "demo.json"
    inode, text = file.stat().st_ino, file.read_text()
    seed()
    assert everything() == before
    assert (file.stat().st_ino, file.read_text()) == (inode, text)


def test_a_second_run_asks_the_database_a_few_times(django_assert_max_num_queries):
    seed()
    with django_assert_max_num_queries(6):
        seed()


@pytest.mark.parametrize("text", [None, "", "[]", '{"url": "http://', "{}"])
def test_a_lost_or_broken_file_is_made_again_with_new_secrets(data, client, text):
    seed()
    old, path = facts(data), data / "demo.json"
    path.unlink() if text is None else path.write_text(text)
    cards = Card.objects.count()
    seed()
    new = facts(data)
    assert new["boards"] == old["boards"]
    assert new["password"] != old["password"]
    assert not client.login(username="ann", password=old["password"])
    assert client.login(username="ann", password=new["password"])
    assert caller_of_token(new["worker_token"]).handle == "drafter"
    assert Card.objects.count() == cards
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_of_another_database_is_replaced(data):
    seed()
    other = facts(data)
    Workspace.objects.all().update(slug="former")
    User.objects.all().update(username="former", handle="former")
    seed()
    new = facts(data)
    assert new["worker_token"] != other["worker_token"]
    assert new["boards"] != other["boards"]


def test_a_revoked_token_is_replaced(data):
    seed()
    token = WorkerToken.objects.get()
    owner = demo.caller_of_actor(demo.person())
    revoke_token(owner, agent_id=token.actor_id, token_id=token.pk)
    seed()
    assert caller_of_token(facts(data)["worker_token"]).handle == "drafter"


def test_another_port_is_written_down_and_the_secrets_stay(data, settings):
    seed()
    old = facts(data)
    settings.NOVUM_URL = "http://127.0.0.1:9100"
    settings.NOVUM_LIVE_URL = "http://127.0.0.1:9101"
    seed()
    assert facts(data) == old | {
        "url": "http://127.0.0.1:9100",
        "live_url": "http://127.0.0.1:9101",
    }


def test_a_new_column_is_written_down(data):
    seed()
    board = demo.board()
    create_column(demo.caller_of_actor(demo.person()), board_id=board.pk, name="Later")
    seed()
    names = [column["name"] for column in facts(data)["boards"][0]["columns"]]
    assert names[-1] == "Later"


def test_a_file_that_others_can_read_is_closed_again(data):
    seed()
    (data / "demo.json").chmod(0o644)
    old = facts(data)
    seed()
    assert facts(data) == old
    assert stat.S_IMODE((data / "demo.json").stat().st_mode) == 0o600


def test_somebody_elses_login_ann_is_left_alone(data, client):
    real = User.objects.create_user("ann", password="her own secret", handle="ann")
    seed()
    real.refresh_from_db()
    assert real.check_password("her own secret")
    assert not real.is_superuser
    found = facts(data)
    assert found["username"] == "ann2"
    assert client.login(username="ann2", password=found["password"])


def test_half_a_demo_is_never_left(data, monkeypatch):
    def refuse(*arguments, **options):
        raise RuntimeError

    monkeypatch.setattr(demo, "release", refuse)
    with pytest.raises(RuntimeError):
        seed()
    assert not Workspace.objects.exists()
    assert not (data / "demo.json").exists()
