"""Tasks by the name of their queue: made, claimed, finished."""

from dataclasses import replace

import pytest

from accounts.errors import Forbidden, Invalid
from accounts.roles import BoardRole, WorkspaceRole
from boards.models import Board, Column
from boards.verbs.boards import archive_board, edit_board
from boards.verbs.columns import delete_column
from leases.models import Contract
from leases.verbs.set_contract import Terms, set_contract
from tasks_people import queues
from tasks_people.errors import NotHeld, QueueOff, UnknownQueue
from tasks_people.models import TasksBoard
from tasks_people.reads import task
from tasks_people.verbs.claim import claim
from tasks_people.verbs.create import create
from tasks_people.verbs.hold import complete, fail, give_back, heartbeat
from tests.builders import a_person, a_token, an_agent, card_row, event_types, lapse
from tests.connections import together


def of_a_queue(world, name):
    return Contract.objects.get(workspace=world.workspace, queue=name)


def test_a_queue_is_made_at_its_first_use_with_the_defaults(world):
    made = create(world.worker, queue="reports", title="Analyze report.csv")
    contract = of_a_queue(world, "reports")
    assert contract.enabled
    assert (contract.lease_ttl_seconds, contract.max_attempts) == (300, 5)
    card = card_row(made)
    assert (card.column_id, card.state, card.priority) == (contract.pk, "open", 3)
    board = TasksBoard.objects.get(workspace=world.workspace).board
    assert (board.name, board.pk) == ("Tasks", card.board_id)
    assert task(world.worker, task_id=made).queue == "reports"


def test_further_queues_stand_on_the_same_board(world):
    create(world.worker, queue="one", title="A")
    create(world.owner, queue="two", title="B")
    create(world.owner, queue="two", title="C")
    board = TasksBoard.objects.get(workspace=world.workspace).board
    names = Column.objects.filter(board=board).order_by("position")
    assert list(names.values_list("name", flat=True)) == ["one", "two"]
    assert Board.objects.filter(workspace=world.workspace).count() == 2


def test_any_enabled_column_is_addressed_by_its_queue_name(world):
    world.set(queue="drafting")
    made = create(world.worker, queue="drafting", title="A")
    assert card_row(made).column_id == world.queue
    assert not TasksBoard.objects.exists()


def test_the_leases_of_the_people_queue_never_lapse(world):
    create(world.worker, queue="people", title="Call")
    assert of_a_queue(world, "people").lease_ttl_seconds is None
    taken = claim(world.owner, queue="people")
    assert taken.task.lease.expires_at is None


def test_the_people_queue_is_there_before_anybody_has_used_it(world):
    assert claim(world.owner, queue="people").reason == "drained"


@pytest.mark.parametrize("name", ["", "Reports", "a b", "-a", "a" * 61, "ä"])
def test_a_bad_name_is_refused(world, name):
    with pytest.raises(Invalid) as refused:
        create(world.owner, queue=name, title="A")
    assert refused.value.errors[0].pointer == "/queue"


def test_a_claim_makes_no_queue(world):
    with pytest.raises(UnknownQueue) as refused:
        claim(world.worker, queue="reports")
    assert refused.value.errors[0].pointer == "/queue"
    assert not Contract.objects.filter(queue="reports").exists()


def test_a_queue_on_a_board_that_one_cannot_see_is_unknown(world):
    world.set(queue="drafting")
    edit_board(world.owner, board_id=world.board, default_role=None)
    stranger = a_person(world.workspace, WorkspaceRole.MEMBER)
    for verb in (
        lambda: claim(stranger, queue="drafting"),
        lambda: create(stranger, queue="drafting", title="A"),
    ):
        with pytest.raises(UnknownQueue):
            verb()
    edit_board(world.owner, board_id=world.board, default_role=BoardRole.VIEWER)
    with pytest.raises(Forbidden):
        create(stranger, queue="drafting", title="A")


def test_whoever_may_not_edit_the_tasks_board_makes_no_queue_there(world):
    create(world.owner, queue="one", title="A")
    board = TasksBoard.objects.get(workspace=world.workspace).board
    edit_board(world.owner, board_id=board.pk, default_role=BoardRole.VIEWER)
    with pytest.raises(Forbidden):
        create(world.worker, queue="two", title="A")
    assert not Contract.objects.filter(queue="two").exists()


def test_a_queue_that_is_switched_off_takes_no_tasks(world):
    world.set(queue="drafting")
    world.set(enabled=False)
    with pytest.raises(QueueOff):
        create(world.owner, queue="drafting", title="A")


def test_a_deleted_column_gives_its_name_back(world):
    first = create(world.owner, queue="reports", title="A")
    old = card_row(first)
    set_contract(
        world.owner, board_id=old.board_id, column_id=old.column_id, terms=Terms()
    )
    create(world.owner, queue="other", title="B")
    other = of_a_queue(world, "other").pk
    delete_column(
        world.owner,
        board_id=old.board_id,
        column_id=old.column_id,
        move_cards_to=other,
    )
    queues.forget()
    again = create(world.owner, queue="reports", title="C")
    assert card_row(again).column_id not in (old.column_id, other)


def test_an_archived_tasks_board_says_so(world):
    first = create(world.owner, queue="reports", title="A")
    archive_board(world.owner, board_id=card_row(first).board_id)
    with pytest.raises(Exception, match="archived"):
        create(world.owner, queue="new", title="A")


@pytest.mark.django_db(transaction=True)
def test_two_first_uses_make_one_queue_and_one_board(transactional_db):
    from tests.builders import a_world

    world = a_world()
    calls = [
        lambda by=by: create(by, queue="reports", title="A")
        for by in (world.owner, world.worker, world.owner, world.worker)
    ]
    made = together(*calls)
    assert len({card_row(one).column_id for one in made}) == 1
    assert Board.objects.filter(name="Tasks").count() == 1


def test_a_claim_takes_the_most_important_then_the_oldest(world):
    for title, priority in (("a", 3), ("b", 1), ("c", 3), ("d", 1)):
        create(world.worker, queue="reports", title=title, priority=priority)
    got = [claim(world.worker, queue="reports").task.title for _ in range(4)]
    assert got == ["b", "d", "a", "c"]
    assert claim(world.worker, queue="reports").task is None


@pytest.mark.parametrize("said", ["second,first", ["second", "first"]])
def test_of_several_queues_the_first_one_named_goes_first(world, said):
    create(world.worker, queue="first", title="F", priority=1)
    create(world.worker, queue="second", title="S", priority=5)
    titles = [claim(world.worker, queue=said).task.title for _ in range(2)]
    assert titles == ["S", "F"]
    assert claim(world.worker, queue=said).reason == "drained"


def test_the_best_news_of_several_empty_queues_is_told(world):
    create(world.worker, queue="first", title="F")
    create(world.worker, queue="second", title="S")
    fail(
        world.worker,
        task_id=claim(world.worker, queue="second").task.id,
        retry=True,
        retry_after_seconds=30,
    )
    claim(world.worker, queue="first")
    empty = claim(world.worker, queue=["first", "second"])
    assert (empty.task, empty.reason) == (None, "waiting")
    assert 0 < empty.retry_after_seconds <= 30


def test_a_claim_follows_a_name_to_another_column(world):
    world.set(queue="drafting")
    create(world.worker, queue="drafting", title="A")
    assert claim(world.worker, queue="drafting").task
    world.set(queue="old")
    other = world.column("Other")
    set_contract(
        world.owner,
        board_id=world.board,
        column_id=other,
        terms=Terms(enabled=True, queue="drafting"),
    )
    queues.forget()
    world.add("B", column=other)
    assert claim(world.worker, queue="drafting").task.column_id == other


def test_a_name_that_was_taken_away_meanwhile_is_looked_up_again(world):
    world.set(queue="drafting")
    create(world.worker, queue="drafting", title="A")
    assert queues.find(world.worker, "drafting")
    world.set(enabled=False)
    with pytest.raises(UnknownQueue):
        claim(world.worker, queue="drafting")


@pytest.mark.parametrize("seconds", [0, -1, 3601])
def test_a_lease_is_a_second_to_an_hour(world, seconds):
    create(world.worker, queue="reports", title="A")
    with pytest.raises(Invalid) as refused:
        claim(world.worker, queue="reports", lease_seconds=seconds)
    assert refused.value.errors[0].pointer == "/lease_seconds"


def test_the_holder_needs_no_receipt(world):
    made = create(world.worker, queue="reports", title="A", payload={"file": "q3"})
    taken = claim(world.worker, queue="reports", lease_seconds=60)
    assert taken.task.id == made
    assert taken.task.payload is not None
    assert heartbeat(world.worker, task_id=made).expires_at
    done = complete(world.worker, task_id=made, result={"rows": 312})
    assert (done.task.state, done.task.result) == ("done", {"rows": 312})
    assert done.task.queue == "reports"
    again = complete(world.worker, task_id=made, result={"rows": 0})
    assert (again.replayed, again.task.result) == (True, {"rows": 312})


def test_another_worker_of_the_same_seat_needs_the_receipt(world):
    made = create(world.worker, queue="reports", title="A")
    taken = claim(world.worker, queue="reports")
    from accounts.credentials import caller_of_token
    from accounts.models import Actor

    text, _ = a_token(Actor.objects.get(pk=world.worker.actor_id))
    other = caller_of_token(text)
    with pytest.raises(NotHeld):
        complete(other, task_id=made)
    assert complete(other, task_id=made, lease_token=taken.lease_token).task.result is (
        None
    )


def test_what_one_does_not_hold_is_refused_with_its_present_state(world):
    made = create(world.worker, queue="reports", title="A")
    with pytest.raises(NotHeld) as refused:
        heartbeat(world.worker, task_id=made)
    assert refused.value.facts["task"].state == "open"
    claim(world.worker, queue="reports")
    other = an_agent(world.workspace)
    for verb in (heartbeat, complete, fail, give_back):
        with pytest.raises(NotHeld) as refused:
            verb(other, task_id=made)
        facts = refused.value.facts
        assert facts["task"].lease.holder == f"@{world.worker.handle}"


def test_a_lapsed_lease_is_lost_and_the_task_goes_to_the_next(world):
    world.set(queue="drafting")
    made = world.add()
    held = world.claim()
    lapse(held)
    with pytest.raises(NotHeld) as refused:
        complete(world.worker, task_id=made, lease_token=held.lease_token)
    assert refused.value.facts["lease_state"] == "expired"
    other = an_agent(world.workspace)
    assert claim(other, queue="drafting").task.id == made
    with pytest.raises(NotHeld) as refused:
        heartbeat(world.worker, task_id=made)
    assert refused.value.facts["task"].lease.holder == f"@{other.handle}"


def test_a_failed_task_opens_again_only_if_asked(world):
    made = create(world.worker, queue="reports", title="A")
    claim(world.worker, queue="reports")
    again = fail(world.worker, task_id=made, error="input missing", retry=True)
    assert (again.task.state, again.task.error) == ("open", "input missing")
    taken = claim(world.worker, queue="reports").task
    assert (taken.error, taken.attempts) == ("input missing", 2)
    dead = fail(world.worker, task_id=made, error="no use")
    assert (dead.task.state, dead.task.error) == ("failed", "no use")


def test_a_task_given_back_counts_no_attempt(world):
    made = create(world.worker, queue="reports", title="A")
    claim(world.worker, queue="reports")
    back = give_back(world.worker, task_id=made, note="Half done.")
    assert (back.task.state, back.task.attempts, back.task.error) == ("open", 0, None)


def test_a_result_that_does_not_fit_is_told_by_its_place(world):
    from leases.errors import OutputRejected

    world.set(queue="drafting", output_schema={"type": "object", "required": ["text"]})
    made = world.add()
    claim(world.worker, queue="drafting")
    with pytest.raises(OutputRejected) as refused:
        complete(world.worker, task_id=made, result={})
    assert refused.value.errors[0].pointer.startswith("/result")
    assert card_row(made).state == "claimed"


def test_tasks_and_cards_write_the_same_rows_and_events(world):
    """The same story by both doors."""
    from leases.verbs.complete import complete as complete_lease
    from tests.builders import receipt

    world.set(queue="drafting", on_success_column_id=None)
    by_task = world.add("A")
    claim(world.worker, queue="drafting")
    complete(world.worker, task_id=by_task, result={"x": 1})
    by_card = world.add("A")
    complete_lease(world.worker, **receipt(world.claim()), output={"x": 1})
    assert event_types(by_task) == event_types(by_card)
    kept = ("state", "output", "attempts", "version", "sequence", "column_id")
    one, two = card_row(by_task), card_row(by_card)
    assert [getattr(one, name) for name in kept] == [
        getattr(two, name) for name in kept
    ]


def test_a_claim_may_name_labels(world):
    create(world.worker, queue="reports", title="Plain")
    urgent = create(world.worker, queue="reports", title="U", labels=["urgent", "q3"])
    taken = claim(world.worker, queue="reports", labels=["urgent"])
    assert taken.task.id == urgent
    assert claim(world.worker, queue="reports", labels=["urgent"]).task is None
    assert claim(world.worker, queue="reports").task.title == "Plain"


def test_a_claim_may_name_skills(world):
    create(world.worker, queue="reports", title="Plain")
    hard = create(world.worker, queue="reports", title="Hard", skills=["python"])
    able = replace(world.worker, skills=frozenset({"python"}))
    assert claim(able, queue="reports", skills=["python"]).task.id == hard
    assert claim(able, queue="reports", skills=["python"]).task is None
    assert claim(world.worker, queue="reports").task.title == "Plain"
