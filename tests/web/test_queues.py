from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from accounts.models import Actor
from accounts.roles import BoardRole, WorkspaceRole
from boards.models import Board, Column, Event
from leases.models import Contract
from leases.verbs.complete import complete
from leases.verbs.set_contract import Terms, set_contract
from novum.templatetags.lengths import brief, percent
from novum.web import queues_table
from supervision.models import HolderFigures, QueueFigures
from tests.builders import a_person, receipt

MOST_QUERIES = 25


def signed_in(caller) -> Client:
    client = Client()
    client.force_login(Actor.objects.get(pk=caller.actor_id).user)
    return client


@pytest.fixture
def owner(world):
    return signed_in(world.owner)


@pytest.fixture
def viewer(world):
    Board.objects.filter(pk=world.board).update(default_role=BoardRole.VIEWER)
    return signed_in(a_person(world.workspace, WorkspaceRole.MEMBER))


def name(world) -> str:
    return Contract.objects.values_list("queue", flat=True).get(pk=world.queue)


def more_queues(world, number: int) -> None:
    for one in range(number):
        column = world.column(f"Queue {one}")
        set_contract(
            world.owner,
            board_id=world.board,
            column_id=column,
            terms=Terms(enabled=True, queue=f"queue-{one}"),
        )
        world.add(column=column)
        figures(column)


def figures(column, **values) -> None:
    """Something happened there in each of the last three minutes."""
    minute = now().replace(second=0, microsecond=0)
    given = {"completed": 3, "claims": 4, "run": [0, 0, 3], "wait": [0, 4], **values}
    starts = [minute - timedelta(minutes=back) for back in range(3)]
    QueueFigures.objects.bulk_create(
        [
            QueueFigures(column_id=column, span=60, start=start, **given)
            for start in starts
        ]
        + [
            QueueFigures(
                column_id=column,
                span=3600,
                start=minute.replace(minute=0),
                quiet=[0, 5],
                expired=5,
                **{k: v for k, v in given.items() if k != "expired"},
            )
        ]
    )


def queries(client, path: str) -> int:
    client.get(path)
    with CaptureQueriesContext(connection) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


def test_the_pages_ask_equally_few_times_whatever_there_is(world, owner):
    figures(world.queue)
    world.add()
    world.claim()
    detail = f"/queues/{world.queue}"
    few = queries(owner, "/queues"), queries(owner, detail)
    more_queues(world, 12)
    world.add_many(30)
    for _ in range(5):
        held = world.claim()
        complete(world.worker, **receipt(held))
    HolderFigures.objects.bulk_create(
        HolderFigures(
            column_id=world.queue,
            span=60,
            start=now().replace(second=0, microsecond=0),
            holder_id=a_person(world.workspace).actor_id,
            completed=2,
            run=[0, 2],
        )
        for _ in range(10)
    )
    many = queries(owner, "/queues"), queries(owner, detail)
    assert many == few
    assert max(many) <= MOST_QUERIES


def test_every_queue_is_listed_with_what_lies_there(world, owner):
    world.set(concurrency_limit=7)
    world.add_many(3)
    world.claim()
    figures(world.queue)
    text = owner.get("/queues").content.decode()
    assert f">{name(world)}</b>" in text
    assert "/ 7" in text
    assert "queue-spark-done" in text
    assert "100 %" in text


def test_the_address_filters_and_sorts(world, owner):
    more_queues(world, 2)
    column = Column.objects.get(board_id=world.board, name="Queue 1").pk
    world.add(column=column)
    by_depth = owner.get("/queues?sort=-depth").content.decode()
    assert by_depth.index("queue-1<") < by_depth.index("queue-0<")
    assert 'aria-sort="descending"' in by_depth
    only = owner.get("/queues?q=QUEUE-1").content.decode()
    assert "queue-1<" in only
    assert "queue-0<" not in only
    owner.post(f"/queues/{column}/pause", {"reason": "Too dear."})
    paused = owner.get("/queues?paused=yes").content.decode()
    assert "queue-1<" in paused
    assert "queue-0<" not in paused
    assert "Too dear." in paused
    # Cards came just now.
    assert "queue-0<" not in owner.get("/queues?trouble=yes").content.decode()
    # They have been there for long, and nobody ever asked: trouble, unless paused.
    Event.objects.update(created_at=now() - timedelta(hours=1))
    trouble = owner.get("/queues?trouble=yes").content.decode()
    assert "queue-0<" in trouble
    assert "queue-1<" not in trouble
    assert owner.get("/queues?board=nonsense&sort=nonsense").status_code == 200
    assert "No queue is like that" in owner.get("/queues?q=zzz").content.decode()


def test_many_queues_are_shown_by_pages(world, owner, monkeypatch):
    monkeypatch.setattr(queues_table, "PER_PAGE", 2)
    more_queues(world, 4)
    first = owner.get("/queues").content.decode()
    assert "5 queues" in first
    assert "queue-0<" in first
    assert "queue-3<" not in first
    assert "?page=2" in first
    last = owner.get("/queues?page=3").content.decode()
    assert "queue-3<" in last
    assert "?page=4" not in last
    # A page that isn't there any more leads nowhere worse than to the filter.
    assert owner.get("/queues?page=999").status_code == 200
    assert "queue-0<" in owner.get("/queues?page=-1").content.decode()


def test_pausing_drains_and_resuming_offers_cards_again(world, owner):
    world.add_many(2)
    held = world.claim()
    where = f"/queues/{world.queue}"
    told = owner.post(f"{where}/pause", {"how": "drain"}, follow=True)
    assert "1 card is still at work" in told.content.decode()
    assert world.ask().reason == "paused"
    assert "Draining, 1 at work" in owner.get(where).content.decode()
    complete(world.worker, **receipt(held))
    assert "Paused, nobody at work" in owner.get(where).content.decode()
    owner.post(f"{where}/resume")
    assert "Running" in owner.get(where).content.decode()
    assert world.ask().card


def test_a_viewer_sees_no_action_and_is_refused_each(world, viewer):
    where = f"/queues/{world.queue}"
    for path in ("/queues", where):
        text = viewer.get(path).content.decode()
        assert name(world) in text
        assert "/pause" not in text
    for action in ("pause", "resume"):
        answer = viewer.post(f"{where}/{action}", headers={"HX-Request": "true"})
        assert answer.status_code == 403
    assert not Contract.objects.get(pk=world.queue).paused


def test_a_queue_that_one_may_not_see_is_not_there(world, owner):
    Board.objects.filter(pk=world.board).update(default_role=None)
    other = signed_in(a_person(world.workspace, WorkspaceRole.MEMBER))
    assert name(world) not in other.get("/queues").content.decode()
    assert other.get(f"/queues/{world.queue}").status_code == 404
    assert owner.get(f"/queues/{world.done}").status_code == 404


@pytest.mark.parametrize("span", ["1h", "24h", "7d", "30d", "nonsense"])
def test_the_detail_has_its_span_and_tries_a_length(world, owner, span):
    figures(world.queue)
    answer = owner.get(f"/queues/{world.queue}?span={span}&lease=45s")
    text = answer.content.decode()
    assert "data-charts=" in text
    # Five of ten had lapsed; the others took a moment.
    assert "10 leases ended" in text
    assert '<th scope="row">45 s' in text
    assert "50 %" in text


def test_a_length_that_is_none_is_said_so(world, owner):
    for typed in ("soon", "9d", "0"):
        text = owner.get(f"/queues/{world.queue}?lease={typed}").content.decode()
        assert 'aria-invalid="true"' in text


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, "\u2013"),
        (0.35, "350 ms"),
        (2.44, "2.4 s"),
        (42, "42 s"),
        (310, "5m 10s"),
        (3600, "1h"),
        (3 * 86_400 + 4 * 3_600, "3d 4h"),
    ],
)
def test_lengths_are_said_in_short(seconds, said):
    assert brief(seconds) == said


def test_a_share_is_never_called_whole_when_something_is_missing():
    assert percent(0.9999) == "99.9 %"
    assert percent(1.0) == "100 %"
    assert percent(None) == "\u2013"
