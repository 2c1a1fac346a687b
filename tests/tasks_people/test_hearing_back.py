"""Whoever hands out a task hears of its end, once, whatever happens meanwhile."""

import random

import pytest
from django.db import connection

from accounts.errors import Invalid
from accounts.roles import BoardRole, WorkspaceRole
from boards.verbs.boards import edit_board
from boards.verbs.comments import add_comment
from boards.verbs.moving import move_card
from leases.models import Contract
from leases.verbs.requeue import requeue
from leases.verbs.tidy import tidy
from tasks_people import inbox
from tasks_people.models import Gathering, Mailbox, Message
from tasks_people.verbs.claim import claim
from tasks_people.verbs.create import create
from tasks_people.verbs.gather import gather, gather_all
from tasks_people.verbs.hold import complete, fail
from tasks_people.verbs.messages import mark_read, pull, send
from tests.builders import a_person, a_world, an_agent, lapse, receipt
from tests.connections import held_open, outcome, start, together


def told(by, **options):
    return pull(by, **options)


def a_task(world, by=None, **fields):
    return create(by or world.worker, queue="reports", title="A", **fields)


def finish(world, task_id, by=None, **options):
    by = by or an_agent(world.workspace)
    assert claim(by, queue="reports").task.id == task_id
    complete(by, task_id=task_id, **options)
    return by


def test_the_creator_hears_the_result(world):
    made = a_task(world)
    by = finish(world, made, result={"text": "…", "rows": 312})
    (message,) = told(world.worker, topics="tasks.done")
    assert (message.topic, message.type) == ("tasks.done", "task.done")
    assert message.correlation_id == str(made)
    assert message.payload["status"] == "done"
    assert message.payload["result"] == {"text": "…", "rows": 312}
    assert message.payload["by"] == f"@{by.handle}" == message.sender
    assert told(world.worker) == []
    assert told(by) == []


def test_numbers_arrive_as_they_were_sent(world):
    made = a_task(world)
    exact = {"big": 12345678901234567890, "small": 0.1, "none": None, "text": "\u2028"}
    finish(world, made, result=exact)
    assert told(world.worker)[0].payload["result"] == exact


def test_a_failure_for_good_is_told_and_a_retry_is_not(world):
    made = a_task(world)
    other = an_agent(world.workspace)
    claim(other, queue="reports")
    fail(other, task_id=made, error="later", retry=True)
    assert told(world.worker) == []
    claim(other, queue="reports")
    fail(other, task_id=made, error="input missing")
    (message,) = told(world.worker)
    assert message.payload["status"] == "failed"
    assert message.payload["error"] == "input missing"
    assert message.payload["by"] == f"@{other.handle}"


def test_a_person_who_fails_a_task_declines_it(world):
    made = a_task(world)
    person = a_person(world.workspace, WorkspaceRole.MEMBER)
    claim(person, queue="reports")
    fail(person, task_id=made, error="Not my job.")
    assert told(world.worker)[0].payload["status"] == "declined"


def test_an_expiry_into_the_dead_letters_is_told(world):
    made = a_task(world)
    column = Contract.objects.get(queue="reports").pk
    Contract.objects.filter(pk=column).update(max_attempts=1)
    held = claim(an_agent(world.workspace), queue="reports")

    class Held:
        lease = held.task.lease

    lapse(Held)
    tidy(column)
    (message,) = told(world.worker)
    assert message.correlation_id == str(made)
    assert message.payload["status"] == "failed"
    assert message.payload["error"] == "lease_expired"


def test_a_stage_of_a_pipeline_is_no_end(world):
    """Only where the card comes to rest its creator hears of it."""
    world.set(queue="reports")
    made = a_task(world)
    next_queue = world.column("Review")
    from leases.verbs.set_contract import Terms, set_contract

    set_contract(
        world.owner,
        board_id=world.board,
        column_id=next_queue,
        terms=Terms(enabled=True, queue="review"),
    )
    world.set(on_success_column_id=next_queue)
    finish(world, made, result=1)
    assert told(world.worker) == []
    claim(world.worker, queue="review")
    complete(world.worker, task_id=made, result=2)
    assert [one.payload["result"] for one in told(world.worker)] == [2]


def test_a_second_round_is_told_again(world):
    made = a_task(world)
    by = finish(world, made, result=1)
    requeue(world.owner, card_id=made)
    finish(world, made, by, result=2)
    assert [one.payload["result"] for one in told(world.worker)] == [1, 2]


def test_an_agent_hears_of_what_its_own_seat_did_and_a_person_does_not(world):
    mine = a_task(world)
    finish(world, mine, world.worker)
    assert len(told(world.worker)) == 1
    own = a_task(world, world.owner)
    finish(world, own, world.owner)
    assert told(world.owner) == []
    other = a_task(world, world.owner)
    finish(world, other)
    assert [one.correlation_id for one in told(world.owner)] == [str(other)]


def test_moving_a_card_by_hand_tells_nobody(world):
    made = world.add()
    move_card(world.worker, card_id=made, column_id=world.done)
    assert told(world.owner) == []


def test_without_ack_it_stays_unread(world):
    finish(world, a_task(world))
    first = told(world.worker, ack=False)
    again = told(world.worker)
    assert [one.id for one in first] == [one.id for one in again]
    assert first[0].read_at is None
    assert again[0].read_at is not None
    assert told(world.worker) == []


def test_after_reads_again_what_a_dropped_reply_lost(world):
    for number in range(5):
        send(world.owner, to=world.worker.handle, topic="plans", payload=number)
    first = told(world.worker, limit=2)
    told(world.worker, limit=2)  # nobody saw this one
    again = told(world.worker, after=str(first[-1].id))
    assert [one.payload for one in again] == [2, 3, 4]
    assert [one.payload for one in told(world.worker, after="0")] == [0, 1, 2, 3, 4]
    assert told(world.worker, after=str(again[-1].id)) == []


@pytest.mark.parametrize("after", ["x", "00000000-0000-7000-8000-000000000000", "1"])
def test_after_what_is_no_message_of_theirs_is_refused(world, after):
    with pytest.raises(Invalid) as refused:
        told(world.worker, after=after)
    assert refused.value.errors[0].pointer == "/after"


def test_after_a_message_of_somebody_else_is_refused(world):
    send(world.worker, to=world.owner.handle, topic="plans")
    (theirs,) = told(world.owner)
    with pytest.raises(Invalid):
        told(world.worker, after=str(theirs.id))


@pytest.mark.parametrize("topics", ["one,two", ["one", "two"], " one , two "])
def test_topics_choose(world, topics):
    for topic in ("one", "two", "three"):
        send(world.owner, to=f"@{world.worker.handle}", topic=topic)
    assert [one.topic for one in told(world.worker, topics=topics)] == ["one", "two"]
    assert [one.topic for one in told(world.worker)] == ["three"]


def test_topics_are_counted(world):
    for topic in ("one", "two", "one"):
        send(world.owner, to=world.worker.handle, topic=topic)
    told(world.worker, topics="one", limit=1)
    found = [(one.topic, one.unread, one.total) for one in inbox.topics(world.worker)]
    assert found == [("one", 1, 2), ("two", 1, 1)]
    assert inbox.unread(world.worker) == 2


@pytest.mark.parametrize(
    "topic", ["tasks.done", "tasks.assigned", "mentions", "", "A b"]
)
def test_topics_of_the_product_cannot_be_forged(world, topic):
    with pytest.raises(Invalid) as refused:
        send(world.worker, to=world.owner.handle, topic=topic)
    assert refused.value.errors[0].pointer == "/topic"


def test_nobody_is_told_across_workspaces(world):
    with pytest.raises(Invalid):
        send(world.worker, to=a_world().owner.handle, topic="plans")


def test_a_list_shows_the_latest_first_and_marks_nothing(world):
    for number in range(3):
        send(world.owner, to=world.worker.handle, topic="plans", payload=number)
    page = inbox.messages(world.worker, page_size=2, unread=True)
    assert [one.payload for one in page.items] == [2, 1]
    rest = inbox.messages(
        world.worker, page_size=2, page_token=page.next_page_token, unread=True
    )
    assert [one.payload for one in rest.items] == [0]
    assert inbox.unread(world.worker) == 3
    mark_read(world.worker, ids=[rest.items[0].id])
    assert inbox.unread(world.worker) == 2
    assert mark_read(world.worker) == 2
    assert inbox.unread(world.worker) == 0


def test_a_thread_is_between_those_who_talk(world):
    made = a_task(world)
    send(
        world.owner,
        to=world.worker.handle,
        topic="plans",
        correlation_id=str(made),
        payload="Which one?",
    )
    finish(world, made)
    gather_all()
    thread = inbox.thread(world.worker, card_id=made)
    assert [one.topic for one in thread] == ["plans", "tasks.done"]
    assert [one.topic for one in inbox.thread(world.owner, card_id=made)] == ["plans"]
    stranger = a_person(world.workspace, WorkspaceRole.MEMBER)
    assert inbox.thread(stranger, card_id=made) == []


def test_a_person_hears_of_what_is_assigned_to_them(world):
    made = create(
        world.worker, queue="people", title="Call", assignee=world.owner.handle
    )
    (message,) = told(world.owner)
    assert (message.topic, message.correlation_id) == ("tasks.assigned", str(made))
    assert message.payload["by"] == f"@{world.worker.handle}"
    from boards.verbs.cards import edit_card

    other = a_person(world.workspace)
    edit_card(world.owner, card_id=made, assignee=other.handle)
    edit_card(world.owner, card_id=made, title="Call again")
    assert [one.topic for one in told(other)] == ["tasks.assigned"]
    edit_card(world.owner, card_id=made, assignee=world.owner.handle)
    assert told(world.owner) == []


def test_whoever_is_mentioned_is_told_if_they_see_the_board(world):
    card = world.add()
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    text = f"@{world.worker.handle}, ask @{member.handle} or @nobody, x@{member.handle}"
    add_comment(world.owner, card_id=card, text=f"{text} @{world.owner.handle}")
    (message,) = told(world.worker)
    assert (message.topic, message.type) == ("mentions", "card.mentioned")
    assert message.payload["text"].startswith(text)
    assert len(told(member)) == 1
    assert told(world.owner) == []
    edit_board(world.owner, board_id=world.board, default_role=None)
    add_comment(world.owner, card_id=card, text=text)
    gather(world.workspace.pk)
    assert told(member) == []


def test_gathering_twice_tells_once(world):
    finish(world, a_task(world))
    assert gather(world.workspace.pk) == 1
    Gathering.objects.update(transaction=0)
    assert gather(world.workspace.pk) == 0
    assert len(told(world.worker)) == 1


def test_more_than_a_batch_is_told_in_order(world, monkeypatch):
    from leases.verbs.complete import Result, complete_many

    ids = world.add_many(60)
    for _ in range(2):
        held = world.ask(count=30).claims
        results = [Result(**receipt(one), output=one.card.key) for one in held]
        complete_many(world.worker, results=results)
    gather(world.workspace.pk)
    got = told(world.owner, limit=100)
    assert len(got) == 60 == len({one.correlation_id for one in got})
    assert {one.correlation_id for one in got} == {str(one) for one in ids}
    assert [one.number for one in got] == list(range(1, 61))


@pytest.mark.django_db(transaction=True)
class TestSideBySide:
    @pytest.fixture
    def world(self, transactional_db):
        return a_world()

    def test_a_pull_sees_an_end_while_older_transactions_run(self, world):
        """The feed holds such an event back; a pull doesn't."""
        made = a_task(world)
        with held_open(lambda: world.add("Slow", column=world.done)):
            finish(world, made, result=1)
            (message,) = told(world.worker)
            assert message.correlation_id == str(made)
            mark = Gathering.objects.get(pk=world.workspace.pk).transaction
            assert gather(world.workspace.pk) == 0
        assert mark
        assert told(world.worker) == []

    def test_an_end_that_commits_late_is_told(self, world):
        late, early = a_task(world), a_task(world)
        one, two = an_agent(world.workspace), an_agent(world.workspace)
        assert claim(one, queue="reports").task.id == late
        assert claim(two, queue="reports").task.id == early
        with held_open(lambda: complete(one, task_id=late)) as open_one:
            complete(two, task_id=early)
            assert [m.correlation_id for m in told(world.worker)] == [str(early)]
            gather(world.workspace.pk)
            open_one.commit()
        assert [m.correlation_id for m in told(world.worker)] == [str(late)]

    def test_numbers_appear_in_their_order(self, world):
        """A message can't slip in behind one that somebody has already read."""
        to, topic = world.worker.handle, "plans"
        with held_open(
            lambda: send(world.owner, to=to, topic=topic, payload=1)
        ) as first:
            second = start(lambda: send(world.owner, to=to, topic=topic, payload=2))
            assert told(world.worker, ack=False) == []
            first.commit()
            outcome(second)
        assert [one.payload for one in told(world.worker)] == [1, 2]

    def test_workers_of_a_seat_share_what_there_is(self, world):
        for number in range(40):
            send(world.owner, to=world.worker.handle, topic="plans", payload=number)
        got = together(*[lambda: told(world.worker, limit=10)] * 4)
        seen = [one.payload for part in got for one in part]
        assert len(seen) == len(set(seen))
        rest = [one.payload for one in told(world.worker, limit=100)]
        assert sorted(seen + rest) == list(range(40))

    def test_gatherers_at_once_tell_once(self, world):
        gather(world.workspace.pk)
        ids = [a_task(world) for _ in range(10)]
        other = an_agent(world.workspace)
        for _ in ids:
            complete(other, task_id=claim(other, queue="reports").task.id)
        told_by = together(*[lambda: gather(world.workspace.pk)] * 4)
        assert sorted(told_by) == [0, 0, 0, 10]
        got = told(world.worker, limit=100)
        assert sorted(one.correlation_id for one in got) == sorted(map(str, ids))
        assert [one.number for one in got] == list(range(1, 11))

    def test_five_hundred_dropped_replies_lose_nothing(self, world):
        """Every reply may get lost; the client goes on behind the last one it saw."""
        chance = random.Random(7)
        other = an_agent(world.workspace)
        made, seen, last, dropped = [], [], "0", 0
        while dropped < 500:
            if len(made) < 120 and chance.random() < 0.3:
                made.append(str(a_task(world)))
                complete(other, task_id=claim(other, queue="reports").task.id)
            reply = told(world.worker, after=last, limit=5)
            if chance.random() < 0.8:
                dropped += 1
                continue
            seen += [one.correlation_id for one in reply]
            last = str(reply[-1].id) if reply else last
        while reply := told(world.worker, after=last, limit=5):
            seen += [one.correlation_id for one in reply]
            last = str(reply[-1].id)
        assert seen == made
        assert len(made) > 100

    def test_writers_and_readers_at_once_miss_nothing(self, world):
        agents = [an_agent(world.workspace) for _ in range(4)]
        ids = [str(a_task(world)) for _ in range(40)]

        def work(by):
            while (found := claim(by, queue="reports")).task:
                complete(by, task_id=found.task.id)

        def read():
            got = []
            for _ in range(40):
                got += [one.correlation_id for one in told(world.worker, limit=3)]
            return got

        *_, got = together(*[lambda by=by: work(by) for by in agents], read)
        got += [one.correlation_id for one in told(world.worker, limit=100)]
        assert sorted(got) == sorted(ids)

    def test_a_mailbox_is_made_once(self, world):
        to = world.worker.handle
        sent = together(*[lambda: send(world.owner, to=to, topic="plans")] * 4)
        assert not [one for one in sent if isinstance(one, Exception)]
        assert Mailbox.objects.get(pk=world.worker.actor_id).last_number == 4
        assert Message.objects.filter(recipient_id=world.worker.actor_id).count() == 4


def test_a_look_that_finds_nothing_writes_nothing(world):
    gather(world.workspace.pk)
    sent = []

    def note(execute, sql, params, many, context):
        sent.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        told(world.worker, ack=False)
    assert not [
        one for one in sent if one.lstrip().upper().startswith(("UPDATE", "INSERT"))
    ]
    assert len(sent) <= 5, sent


def test_a_board_role_changes_nothing_of_ones_own_messages(world):
    finish(world, a_task(world))
    edit_board(world.owner, board_id=world.board, default_role=BoardRole.VIEWER)
    assert len(told(world.worker)) == 1
