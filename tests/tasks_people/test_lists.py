"""Lists of tasks: what is in them, in which order, and fast among many."""

from time import monotonic, sleep

import pytest
from django.db import connection

from accounts.errors import Invalid
from accounts.pages import BadCursor
from accounts.roles import WorkspaceRole
from boards.verbs.boards import archive_board, edit_board
from boards.verbs.cards import archive_card
from leases.models import Contract
from tasks_people.errors import UnknownQueue
from tasks_people.listing import TaskFilter
from tasks_people.overview import more, overview, some
from tasks_people.reads import queues as all_queues
from tasks_people.reads import tasks
from tasks_people.stack import stack
from tasks_people.verbs.claim import claim
from tasks_people.verbs.create import create
from tasks_people.verbs.hold import complete, fail
from tests.builders import a_person, a_world, all_pages, an_agent
from tests.leases.big_queue import add
from tests.leases.plans import explained


@pytest.fixture
def busy(world):
    """Some of everything on two queues."""
    for queue in ("one", "two"):
        for priority in (3, 1, 5, 3):
            create(
                world.owner, queue=queue, title=f"{queue} {priority}", priority=priority
            )
        complete(
            world.worker, task_id=claim(world.worker, queue=queue).task.id, result=1
        )
        fail(world.worker, task_id=claim(world.worker, queue=queue).task.id, error="No")
        claim(world.worker, queue=queue)
    return world


def listed(world, by=None, sort="updated", page_size=200, **wanted):
    found = all_pages(
        lambda page_size, page_token: tasks(
            by or world.owner,
            TaskFilter(**wanted),
            sort=sort,
            page_size=page_size,
            page_token=page_token,
        ),
        page_size=page_size,
    )
    return list(found)


def test_everything_is_listed_latest_change_first(busy):
    found = listed(busy)
    assert len(found) == 8
    assert [one.updated_at for one in found] == sorted(
        (one.updated_at for one in found), reverse=True
    )


@pytest.mark.parametrize("sort", ["priority", "age", "updated"])
@pytest.mark.parametrize("size", [1, 3, 8])
def test_pages_of_any_size_give_the_same(busy, sort, size):
    whole = [one.id for one in listed(busy, sort=sort)]
    assert [one.id for one in listed(busy, sort=sort, page_size=size)] == whole
    assert len(set(whole)) == 8


def test_by_priority_is_claim_order(busy):
    for queue in ("one", "two"):
        shown = [
            one.id
            for one in listed(busy, sort="priority", queue=queue, states=("open",))
        ]
        got = []
        while (found := claim(busy.worker, queue=queue)).task:
            got.append(found.task.id)
        assert got == shown


def test_by_age_the_oldest_comes_first(busy):
    titles = [one.title for one in listed(busy, sort="age")]
    assert titles[:4] == ["one 3", "one 1", "one 5", "one 3"]


@pytest.mark.parametrize("state", ["open", "claimed", "done", "failed"])
def test_by_state(busy, state):
    found = listed(busy, states=(state,))
    assert {one.state for one in found} == {state}
    assert len(found) == 2
    assert {one.queue for one in found} == {"one", "two"}


def test_results_and_errors_are_shown(busy):
    (done,) = listed(busy, states=("done",), queue="one")
    (failed,) = listed(busy, states=("failed",), queue="one")
    (held,) = listed(busy, states=("claimed",), queue="one")
    assert (done.result, done.error) == (1, None)
    assert (failed.result, failed.error) == (None, "No")
    assert held.lease.holder == f"@{busy.worker.handle}"


def test_by_people(busy):
    other = an_agent(busy.workspace)
    made = create(other, queue="one", title="X", assignee=busy.owner.handle)
    assert [one.id for one in listed(busy, created_by=f"@{other.handle}")] == [made]
    assert [one.id for one in listed(busy, assignee=busy.owner.handle)] == [made]
    assert len(listed(busy, who=busy.worker.handle)) == 6
    assert [one.id for one in listed(busy, who=busy.owner.handle)] == [made]
    with pytest.raises(Invalid) as refused:
        listed(busy, assignee="nobody")
    assert refused.value.errors[0].pointer == "/assignee"


def test_by_parent_and_labels(world):
    top = create(world.owner, queue="one", title="Top")
    part = create(world.owner, queue="two", title="Part", parent=top, labels=["a", "b"])
    assert [one.id for one in listed(world, parent=top)] == [part]
    assert [one.id for one in listed(world, labels=("b",))] == [part]
    assert listed(world, labels=("b", "c")) == []
    assert listed(world, parent=top)[0].parent == top


def test_an_unknown_queue_is_refused_and_the_people_queue_is_just_empty(world):
    with pytest.raises(UnknownQueue):
        listed(world, queue="nope")
    assert listed(world, queue="people") == []


def test_a_cursor_that_is_not_ours_is_refused(busy):
    with pytest.raises(BadCursor):
        tasks(busy.owner, TaskFilter(), sort="priority", page_size=2, page_token="x")


def test_what_has_ended_is_found_by_its_queue_wherever_it_lies(world):
    """Two queues put what they've done into the same column."""
    world.set(queue="drafting")
    done = world.add("Mine")
    claim(world.worker, queue="drafting")
    complete(world.worker, task_id=done)
    from leases.verbs.set_contract import Terms, set_contract

    other = world.column("Other")
    set_contract(
        world.owner,
        board_id=world.board,
        column_id=other,
        terms=Terms(enabled=True, queue="other", on_success_column_id=world.done),
    )
    theirs = world.add("Theirs", column=other)
    claim(world.worker, queue="other")
    complete(world.worker, task_id=theirs)
    assert [one.id for one in listed(world, queue="drafting", states=("done",))] == [
        done
    ]
    assert [one.id for one in listed(world, queue="other", states=("done",))] == [
        theirs
    ]
    assert {one.queue for one in listed(world, states=("done",))} == {
        "drafting",
        "other",
    }


def test_one_sees_the_tasks_of_boards_that_one_sees(world):
    world.set(queue="drafting")
    world.add()
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    assert len(listed(world, by=member)) == 1
    edit_board(world.owner, board_id=world.board, default_role=None)
    assert listed(world, by=member) == []
    assert [one.name for one in all_queues(member)] == []
    assert listed(a_world()) == []


def test_what_is_put_away_is_not_listed(world):
    world.set(queue="drafting")
    card = world.add()
    world.add()
    archive_card(world.owner, card_id=card)
    assert len(listed(world)) == 1
    archive_board(world.owner, board_id=world.board)
    assert listed(world) == []


def test_queues_are_told_with_what_is_on_them(busy):
    found = {one.name: (one.open, one.claimed) for one in all_queues(busy.owner)}
    assert found["one"] == found["two"] == (1, 1)


def test_the_page_shows_four_states_with_counts(busy):
    page = overview(busy.owner, TaskFilter())
    assert [one.state for one in page.states] == ["open", "claimed", "done", "failed"]
    assert [one.total for one in page.states] == [2, 2, 2, 2]
    assert [len(one.items) for one in page.states] == [2, 2, 2, 2]
    assert page.queues == sorted(all_queue.name for all_queue in all_queues(busy.owner))
    assert {one.handle for one in page.people} == {
        busy.owner.handle,
        busy.worker.handle,
    }
    one = overview(busy.owner, TaskFilter(queue="one", who=busy.worker.handle))
    assert [view.total for view in one.states] == [0, 1, 1, 1]
    item = one.states[1].items[0]
    assert item.worker.handle == busy.worker.handle
    assert item.created_by.handle == busy.owner.handle
    assert item.view.shade == "working"


def test_what_is_done_shows_the_latest_thirty_and_pages_through_the_rest(world):
    made = []
    for number in range(65):
        made.append(create(world.owner, queue="one", title=str(number)))
        complete(world.worker, task_id=claim(world.worker, queue="one").task.id)
    view = overview(world.owner, TaskFilter()).states[2]
    assert (view.state, len(view.items), view.total, view.older) == ("done", 30, 65, 35)
    shown, token = [one.id for one in view.items], view.next_page_token
    while token:
        items, token = more(world.owner, TaskFilter(), state="done", page_token=token)
        shown += [one.id for one in items]
    assert shown == made[::-1]


def test_some_are_looked_at_through_the_filter(busy):
    everything = [one.id for one in listed(busy)]
    ones = {one.id for one in listed(busy, queue="one")}
    found = some(busy.owner, TaskFilter(queue="one"), everything)
    assert {one.id for one in found} == ones


class TestMyTasks:
    def test_what_is_mine_or_free_comes_by_importance(self, world):
        me, other = world.owner, a_person(world.workspace)
        made = {
            name: create(world.worker, queue=queue, title=name, **fields)
            for name, queue, fields in (
                ("free", "people", {}),
                ("urgent", "people", {"priority": 1}),
                ("mine", "reports", {"priority": 2, "assignee": me.handle}),
                ("other's", "people", {"priority": 1, "assignee": other.handle}),
                ("agents'", "reports", {"priority": 1}),
                ("low", "people", {"priority": 5}),
            )
        }
        found = stack(me)
        assert found.now.item.id == made["urgent"]
        assert [one.id for one in found.next] == [made["mine"], made["free"]]
        assert [one.id for one in found.later] == [made["low"]]
        assert (found.later_count, found.total) == (1, 4)
        assert stack(other).now.item.id == made["urgent"]
        assert stack(other).total == 4

    def test_what_one_has_begun_comes_first(self, world):
        low = create(world.worker, queue="people", title="Low", priority=5)
        claim(world.owner, queue="people")
        high = create(world.worker, queue="people", title="High", priority=1)
        found = stack(world.owner)
        assert found.now.item.id == low
        assert found.now.task.lease.holder == f"@{world.owner.handle}"
        assert [one.id for one in found.next] == [high]
        assert stack(a_person(world.workspace)).total == 1

    def test_the_foremost_one_is_told_in_full(self, world):
        create(
            world.worker,
            queue="people",
            title="Call",
            description="Ring *them*.",
            payload={"n": 5},
        )
        contract = Contract.objects.get(queue="people")
        contract.output_schema = {"type": "object"}
        contract.save()
        claim(world.owner, queue="people")
        from tasks_people.verbs.hold import give_back

        held = stack(world.owner).now
        give_back(world.owner, task_id=held.item.id, note="Half done.")
        now = stack(world.owner).now
        assert now.task.payload == {"n": 5}
        assert now.task.description == "Ring *them*."
        assert now.output_schema == {"type": "object"}
        assert now.item.created_by.handle == world.worker.handle
        assert [one.note for one in now.attempts] == ["Half done."]

    def test_what_waits_for_its_time_comes_last(self, world):
        from datetime import UTC, datetime, timedelta

        soon = datetime.now(UTC) + timedelta(hours=1)
        waits = create(
            world.worker, queue="people", title="Later", priority=1, not_before=soon
        )
        now = create(world.worker, queue="people", title="Now", priority=5)
        found = stack(world.owner)
        assert found.now.item.id == now
        assert [one.id for one in found.next] == [waits]

    def test_later_is_counted_beyond_what_is_shown(self, world):
        for number in range(12):
            create(world.worker, queue="people", title=str(number))
        found = stack(world.owner, later=4)
        assert (len(found.later), found.later_count, found.total) == (4, 9, 12)

    def test_an_empty_stack_is_empty(self, world):
        found = stack(world.owner)
        assert (found.now, found.next, found.later, found.total) == (None, [], [], 0)

    def test_what_one_cannot_see_is_not_there(self, world):
        member = a_person(world.workspace, WorkspaceRole.MEMBER)
        world.set(queue="drafting")
        world.add(assignee=member.handle)
        assert stack(member).total == 1
        edit_board(world.owner, board_id=world.board, default_role=None)
        assert stack(member).total == 0


def sent_by(call):
    sent = []

    def note(execute, sql, params, many, context):
        sent.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        call()
    return len(sent)


@pytest.mark.parametrize("filled", [False, True])
def test_pages_cost_the_same_few_statements(busy, filled):
    if filled:
        for number in range(40):
            create(busy.worker, queue="people", title=str(number))
            create(busy.worker, queue="one", title=str(number))
    wanted = TaskFilter(queue="one", who=busy.worker.handle)
    assert sent_by(lambda: overview(busy.owner, TaskFilter())) <= 15
    assert sent_by(lambda: overview(busy.owner, wanted)) <= 17
    assert sent_by(lambda: stack(busy.owner)) <= 16
    assert sent_by(lambda: listed(busy)) <= 7


MANY = 100_000
# Of 8 kB, found in memory or read; some walk along an index of all that were done.
MOST_PAGES = {"one agent": 60_000}
PATIENCE = 60


def vacuum():
    """Until everybody is known to see every row: else each one that isn't costs a page
    more, and how many those are is luck."""
    end = monotonic() + PATIENCE
    with connection.cursor() as cursor:
        while True:
            cursor.execute("VACUUM ANALYZE boards_card")
            cursor.execute(
                "SELECT relpages, relallvisible FROM pg_class"
                " WHERE oid = 'boards_card'::regclass"
            )
            pages, visible = cursor.fetchone()
            if visible == pages > 0:
                return
            assert monotonic() < end, (pages, visible)
            sleep(0.1)


@pytest.mark.django_db(transaction=True)
def test_a_hundred_thousand_done_ones_slow_nothing_down(transactional_db):
    world = a_world()
    world.set(queue="drafting", on_success_column_id=None, on_failure_column_id=None)
    member = a_person(world.workspace, WorkspaceRole.MEMBER)
    add(world, MANY // 2, state="done", priority=1)
    add(world, MANY // 2, state="done", priority=1, assignee=member.actor_id)
    for number in range(60):
        world.add(str(number), assignee=member.handle if number % 2 else None)
    create(world.worker, queue="people", title="Call")
    vacuum()
    looks = {
        "overview": lambda: overview(member, TaskFilter()),
        "one queue": lambda: overview(member, TaskFilter(queue="drafting")),
        "one agent": lambda: overview(member, TaskFilter(who=world.worker.handle)),
        "stack": lambda: stack(member),
        "open by priority": lambda: tasks(
            member, TaskFilter(states=("open",)), sort="priority", page_size=50
        ),
        "done, latest": lambda: tasks(
            member, TaskFilter(states=("done",)), page_size=50
        ),
        "mine": lambda: tasks(
            member, TaskFilter(assignee=member.handle, states=("open",)), page_size=50
        ),
    }
    for name, look in looks.items():
        with explained() as statements:
            look()
        pages = sum(one.top.pages for one in statements)
        assert 0 < pages < MOST_PAGES.get(name, 3_000), (name, pages)
