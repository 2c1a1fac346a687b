"""Every command of the text that this part of Novum grew from, as it stands there."""

import json

import pytest

from boards.models import Card
from tests.builders import an_agent
from tests.cli.shell import Shell
from tests.doors.http import token_of

pytestmark = pytest.mark.processes

CREATE = (
    'novum tasks.create title="Analyze report.csv" queue=reports'
    """ payload:='{"file":"reports/q3.csv"}'"""
)
CLAIM = "novum tasks.claim queue=reports lease_seconds=300"
HEARTBEAT = "novum tasks.heartbeat id=<ID>"
COMPLETE = """novum tasks.complete id=<ID> result:='{"rows":312}'"""
FAIL = 'novum tasks.fail id=<ID> error="input missing" retry=true'
PRIORITIZE = "novum tasks.prioritize id=<ID> priority=1"
LIST = "novum tasks.list sort=priority"
FOR_PEOPLE = """\
novum tasks.create queue=people priority=1 title="Run 5 customer interviews" \\
  description="Goal: 20 interviews for gate 1, 6 done. Log each one in the collection\
 interview.\""""
PULL = "novum msg.pull topics=tasks.done"


@pytest.fixture
def run(shell):
    """A line's answer; `<ID>` stands for a task's."""

    def run(line, task=None, by=shell):
        done = by.line(line.replace("<ID>", str(task and task["id"])))
        assert done.code == 0, done.err
        return json.loads(done.out)

    return run


@pytest.fixture
def other(shell, world) -> Shell:
    token = token_of(an_agent(world.workspace))
    return Shell(
        shell.program, shell.folder, shell.environment | {"NOVUM_TOKEN": token}
    )


@pytest.fixture
def person(shell, world) -> Shell:
    token = token_of(world.owner)
    return Shell(
        shell.program, shell.folder, shell.environment | {"NOVUM_TOKEN": token}
    )


def test_from_created_to_completed(run, other):
    created = run(CREATE)["task"]
    assert (created["queue"], created["state"]) == ("reports", "open")
    assert created["payload"] == {"file": "reports/q3.csv"}
    assert created["priority"] == 3
    claimed = run(CLAIM, by=other)["task"]
    assert (claimed["id"], claimed["state"]) == (created["id"], "claimed")
    assert run(CLAIM, by=other)["task"] is None
    beat = run(HEARTBEAT, claimed, by=other)
    assert beat["expires_at"] > beat["server_time"]
    done = run(COMPLETE, claimed, by=other)["task"]
    assert (done["state"], done["result"]) == ("done", {"rows": 312})
    (message,) = run(PULL)
    assert (message["type"], message["topic"]) == ("task.done", "tasks.done")
    assert message["correlation_id"] == created["id"]
    assert message["payload"]["status"] == "done"
    assert message["payload"]["result"] == {"rows": 312}
    assert run(PULL) == []


def test_failed_with_another_try_it_is_open_again(run):
    task = run(CREATE)["task"]
    run(CLAIM)
    failed = run(FAIL, task)["task"]
    assert (failed["state"], failed["error"]) == ("open", "input missing")


def test_the_most_important_open_task_comes_first_then_the_oldest(run):
    first, second, third = (run(CREATE)["task"] for _ in range(3))
    assert run(PRIORITIZE, third)["task"]["priority"] == 1
    listed = [one["id"] for one in run(LIST)["items"]]
    assert listed == [third["id"], first["id"], second["id"]]
    assert run(CLAIM)["task"]["id"] == third["id"]
    assert run(CLAIM)["task"]["id"] == first["id"]


def test_handed_to_people_and_heard_back(run, person, world):
    for_me = f"{FOR_PEOPLE} assignee=@{world.owner.handle}"
    anybody, mine = run(FOR_PEOPLE)["task"], run(for_me)["task"]
    assert (anybody["queue"], anybody["priority"]) == ("people", 1)
    assert anybody["description"].endswith("in the collection interview.")
    assert mine["assignee"] == f"@{world.owner.handle}"
    for task in (anybody, mine):
        started = run("novum tasks.claim queue=people", by=person)["task"]
        assert started["id"] == task["id"]
        assert started["lease"]["expires_at"] is None
    text = 'novum tasks.complete id=<ID> result:=\'{"text": "Six more."}\''
    run(text, mine, by=person)
    (message,) = run(PULL)
    assert message["payload"] == {
        **message["payload"],
        "status": "done",
        "result": {"text": "Six more."},
        "by": f"@{world.owner.handle}",
    }


def test_a_task_one_no_longer_holds_is_a_conflict_that_shows_its_state(
    run, shell, other
):
    task = run(CREATE)["task"]
    run(CLAIM, by=other)
    for line in (HEARTBEAT, COMPLETE):
        line = line.replace("<ID>", task["id"])
        shell.line(line).failed(5, "conflict (409)", "state claimed")


BAD_INPUT = [
    ("tasks.create queue=q title=x assignee=@nobody", 6, "assignee: "),
    ("tasks.create queue=Not-A-Name title=x", 6, "queue: "),
    ("tasks.create queue=q title=x priority=0", 6, "priority: "),
    ("tasks.create queue=q title=x priority=6", 6, "priority: "),
    ("tasks.create queue=q title=x priority=high", 2, "priority: "),
    ("tasks.create queue=q", 2, "needs title"),
    ("tasks.create queue=q title=x colour=red", 2, "no field colour"),
    ("tasks.create queue=q title=x payload:={file", 2, "payload: not JSON"),
    ("tasks.create queue=q title=x payload=@nowhere", 2, "payload: can't read"),
    ("tasks.claim queue=unheard-of", 4, "unheard-of"),
    ("tasks.claim queue=q lease_seconds=0", 6, "lease_seconds: "),
    ("tasks.claim queue=q lease_seconds=3601", 6, "lease_seconds: "),
    ("tasks.list sort=colour", 6, "sort: "),
    ("msg.pull limit=0", 6, "limit: "),
]


def test_bad_input_is_one_line_that_names_the_field(shell):
    for words, code, text in BAD_INPUT:
        shell.line(f"novum {words}").failed(code, text)
    assert not Card.objects.exists()


def test_a_result_against_the_contract_names_the_place(run, shell, world):
    schema = {"type": "object", "properties": {"rows": {"type": "integer"}}}
    queue = world.set(output_schema=schema).queue
    task = run(f"novum tasks.create title=x queue={queue}")["task"]
    run(f"novum tasks.claim queue={queue}")
    wrong = f'novum tasks.complete id={task["id"]} result:=\'{{"rows": "many"}}\''
    shell.line(wrong).failed(6, "output_rejected (422)", "result.rows: ")
    assert run(f"novum tasks.get id={task['id']}")["task"]["state"] == "claimed"


def test_several_queues_in_order_and_a_lease_of_ones_own_length(run):
    run("novum tasks.create title=late queue=later")
    run("novum tasks.create title=soon queue=sooner labels=a,b")
    first = run("novum tasks.claim queue=sooner,later lease_seconds=60")
    assert first["task"]["title"] == "soon"
    assert first["task"]["labels"] == ["a", "b"]
    again = run('novum tasks.claim queue:=\'["sooner", "later"]\'')
    assert again["task"]["title"] == "late"
