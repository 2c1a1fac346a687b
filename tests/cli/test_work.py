"""`novum work`: a command per task, and what becomes of the task in every case."""

import os
import signal
import time
from datetime import UTC, datetime

import psutil
import pytest

from boards.models import Card
from leases.models import Lease
from leases.verbs.cancel import request_cancel
from leases.verbs.revoke import revoke
from tests.processes.waiting import eventually

pytestmark = pytest.mark.processes


@pytest.fixture
def queue(world) -> str:
    return f"queue={world.set().queue}"


@pytest.fixture
def begin(shell):
    """Starts `novum work …`; whatever is left of it ends with the test."""
    begun = []

    def begin(*words):
        begun.append(shell.start("work", *words))
        return begun[-1]

    yield begin
    for one in begun:
        one.kill()
        one.communicate()


def ended(process) -> str:
    """Its standard error, after it ended well."""
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return err


def the_card(pk) -> Card:
    return Card.objects.get(pk=pk)


def reasons(card) -> list[tuple[str, str]]:
    found = Lease.objects.filter(card_id=card).order_by("acquired_at")
    return [(one.state, one.reason) for one in found]


def sh(text) -> list[str]:
    return ["--", "sh", "-c", text]


def test_the_task_goes_in_and_the_result_comes_out(shell, world, queue):
    card = world.add("Analyze", payload={"file": "q3.csv"})
    script = (
        "import json, os, sys; task = json.load(sys.stdin);"
        "print(json.dumps({'file': task['payload']['file'],"
        " 'same': os.environ['NOVUM_TASK_ID'] == task['id'],"
        " 'key': os.environ['NOVUM_TASK_KEY'], 'try': os.environ['NOVUM_ATTEMPT']}))"
    )
    done = shell("work", queue, "--once", "--", "python3", "-c", script)
    assert (done.code, done.out) == (0, "")
    output = the_card(card).output
    assert f"novum: {output.pop('key')} done" in done.err
    assert output == {"file": "q3.csv", "same": True, "try": "1"}
    assert reasons(card) == [("completed", "")]


@pytest.mark.parametrize(
    ("script", "result"),
    [
        ("echo All fine.; echo Really.", {"text": "All fine.\nReally."}),
        ("true", None),
        ("echo 312", 312),
        ("echo '[1, 2.5]'", [1, 2.5]),
        ("echo NaN", {"text": "NaN"}),
        (r"printf 'caf\351 \000.'", {"text": "caf\ufffd ."}),
        ("head -c 300000 /dev/zero | tr '\\0' x", {"text": "x" * 300_000}),
    ],
)
def test_json_is_the_result_and_other_text_a_text(shell, world, queue, script, result):
    card = world.add()
    assert shell("work", queue, "--once", *sh(script)).code == 0
    assert the_card(card).output == result


def test_an_exit_code_is_a_failure_with_the_last_line_as_its_reason(
    shell, world, queue
):
    card = world.add()
    script = "echo 'half a result'; echo Trying >&2; echo 'input missing' >&2; exit 3"
    done = shell("work", queue, "--once", *sh(script))
    assert done.code == 1
    assert "Trying\ninput missing\n" in done.err
    assert reasons(card) == [("failed", "input missing")]
    assert (the_card(card).state, the_card(card).output) == ("failed", None)


@pytest.mark.parametrize(
    ("options", "script", "reason", "state"),
    [
        ([], "exit 9", "The command ended with exit code 9.", "failed"),
        ([], "kill -9 $$", "The command ended with signal 9.", "failed"),
        ([], "echo 'come back' >&2; exit 75", "come back", "open"),
        (["--retry"], "exit 1", "The command ended with exit code 1.", "open"),
    ],
)
def test_whether_it_comes_back(shell, world, queue, options, script, reason, state):
    card = world.add()
    assert shell("work", queue, "--once", *options, *sh(script)).code == 1
    assert reasons(card) == [("failed", reason)]
    assert the_card(card).state == state


def test_a_result_that_the_contract_refuses_is_a_failure_that_says_so(shell, world):
    schema = {"type": "object", "required": ["rows"]}
    queue = f"queue={world.set(output_schema=schema).queue}"
    card = world.add()
    done = shell("work", queue, "--once", *sh("echo '{}'"))
    assert done.code == 1
    ((state, reason),) = reasons(card)
    assert state == "failed"
    assert "refused" in reason
    assert "rows" in reason


def test_too_large_a_result_is_a_failure_too(shell, world, queue):
    card = world.add()
    script = "head -c 2000000 /dev/zero | tr '\\0' x"
    assert shell("work", queue, "--once", *sh(script)).code == 1
    assert reasons(card) == [("failed", "The result is too large.")]


def test_it_works_until_nothing_is_left_several_at_once(shell, world, queue):
    world.add_many(12)
    work = ["work", queue, "--until-empty", "-c", "4", *sh("sleep 0.5; echo '{}'")]
    started = time.monotonic()
    done = shell(*work)
    assert done.code == 0, done.err
    assert time.monotonic() - started < 60
    assert Card.objects.filter(state="done").count() == 12
    spans = list(Lease.objects.values_list("acquired_at", "ended_at"))
    most = max(sum(a <= at < b for a, b in spans) for at, _ in spans)
    assert 2 <= most <= 4


def test_once_with_nothing_there_ends_at_once(shell, queue):
    assert shell("work", queue, "--once", *sh("echo never >&2; exit 1")).code == 0


def test_heartbeats_keep_a_lease_shorter_than_the_work(begin, world, queue, tmp_path):
    card, enough = world.add(), tmp_path / "enough"
    script = f"until [ -e {enough} ]; do sleep 0.1; done; echo '{{}}'"
    worker = begin(queue, "lease_seconds=6", "--once", *sh(script))
    eventually(lambda: Lease.objects.exists())
    held = Lease.objects.get(card_id=card)
    eventually(lambda: Lease.objects.get(pk=held.pk).renewals >= 2)
    eventually(lambda: datetime.now(UTC) > held.expires_at)
    enough.touch()
    ended(worker)
    assert reasons(card) == [("completed", "")]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_command_and_gives_the_task_back(
    begin, world, queue, tmp_path, number
):
    card = world.add()
    pid = tmp_path / "pid"
    worker = begin(queue, *sh(f"echo $$ > {pid}; sleep 100"))
    eventually(lambda: pid.exists() and pid.read_text())
    worker.send_signal(number)
    err = ended(worker)
    assert "given back" in err
    assert not psutil.pid_exists(int(pid.read_text()))
    assert [state for state, _ in reasons(card)] == ["released"]
    assert (the_card(card).state, the_card(card).attempts) == ("open", 0)


def test_a_command_that_will_not_end_is_killed_at_the_second_signal(
    begin, world, queue, tmp_path
):
    card = world.add()
    pid = tmp_path / "pid"
    heard = tmp_path / "heard"
    stubborn = (
        f"trap 'touch {heard}' TERM; echo $$ > {pid}; while :; do sleep 0.1; done"
    )
    worker = begin(queue, *sh(stubborn))
    eventually(lambda: pid.exists() and pid.read_text())
    worker.terminate()
    eventually(heard.exists)
    started = time.monotonic()
    worker.terminate()
    ended(worker)
    # It would have had ten seconds.
    assert time.monotonic() - started < 8
    assert not psutil.pid_exists(int(pid.read_text()))
    assert [state for state, _ in reasons(card)] == ["released"]


def test_a_revoked_lease_kills_the_command_and_nothing_is_said_for_it(
    begin, world, queue, tmp_path
):
    card = world.add()
    pid, late = tmp_path / "pid", tmp_path / "late"
    script = f"echo $$ > {pid}; sleep 30; touch {late}"
    worker = begin(queue, "lease_seconds=2", "--once", *sh(script))
    eventually(lambda: pid.exists() and pid.read_text())
    revoke(world.owner, lease_id=Lease.objects.get(card_id=card).pk, reason="Mine.")
    err = ended(worker)
    assert "lost" in err
    assert not psutil.pid_exists(int(pid.read_text()))
    assert not late.exists()
    assert [state for state, _ in reasons(card)] == ["revoked"]


def test_a_cancelled_task_ends_the_command_at_the_next_heartbeat(
    begin, world, queue, tmp_path
):
    card = world.add()
    pid = tmp_path / "pid"
    worker = begin(queue, "lease_seconds=6", "--once", *sh(f"echo $$ >{pid}; sleep 60"))
    eventually(lambda: pid.exists() and pid.read_text())
    request_cancel(world.owner, card_id=card, reason="Not needed.")
    err = ended(worker)
    assert "cancelled after" in err
    assert not psutil.pid_exists(int(pid.read_text()))
    assert (the_card(card).state, the_card(card).attempts) == ("failed", 0)


def test_a_server_that_is_away_for_longer_than_the_lease_ends_the_command(
    begin, shell, world, queue, wire, tmp_path
):
    """Somebody else may have the task by then: two must not work on it."""
    world.add()
    pid = tmp_path / "pid"
    shell.environment["NOVUM_URL"] = wire.url
    worker = begin(queue, "lease_seconds=2", "--once", *sh(f"echo $$ >{pid}; sleep 60"))
    eventually(lambda: pid.exists() and pid.read_text())
    wire.lose(10_000, "heartbeat")
    err = ended(worker)
    assert "no heartbeat came through" in err
    assert not psutil.pid_exists(int(pid.read_text()))


def test_answers_that_are_lost_claim_and_end_each_task_once(shell, world, queue, wire):
    world.add_many(3)
    shell.environment["NOVUM_URL"] = wire.url
    wire.lose(2, "claim")
    worker = shell.start("work", queue, "--until-empty", *sh("echo '{}'"))
    eventually(lambda: Card.objects.filter(state="done").exists())
    wire.lose(1, "complete")
    worker.communicate(timeout=90)
    assert worker.returncode == 0
    assert Card.objects.filter(state="done").count() == 3
    assert Lease.objects.count() == 3


def test_after_kill_9_the_command_ends_and_another_takes_over_after_the_lease(
    begin, shell, world, queue, tmp_path
):
    card = world.add()
    pid = tmp_path / "pid"
    script = f"echo $$ > {pid}; sleep 100"
    killed = begin(queue, "lease_seconds=3", *sh(script))
    eventually(lambda: pid.exists() and pid.read_text())
    killed.kill()
    killed.wait()
    eventually(lambda: not psutil.pid_exists(int(pid.read_text())))
    other = begin(queue, *sh('echo "{\\"attempt\\": $NOVUM_ATTEMPT}"'))
    eventually(lambda: the_card(card).state == "done")
    other.terminate()
    ended(other)
    first, last = Lease.objects.filter(card_id=card).order_by("acquired_at")
    assert (first.state, last.state) == ("expired", "completed")
    assert last.acquired_at >= first.expires_at
    assert the_card(card).output == {"attempt": 2}


def test_a_column_that_is_named_by_its_id_works_as_well(shell, world, column):
    world.set()
    card = world.add()
    done = shell("work", *column, "--once", *sh("echo '{\"a\": 1}'"))
    assert done.code == 0, done.err
    assert the_card(card).output == {"a": 1}


CANNOT_WORK = [
    (["queue=nowhere", *sh("true")], 4, "nowhere"),
    (["queue=people"], 2, "Say what to run"),
    (["queue=people", "--"], 2, "Say what to run"),
    (["queue=people", "--", "no-such-command"], 2, "no command 'no-such-command'"),
    (["--", "true"], 2, "needs queue"),
    (["queue=people", "-c", "0", "--", "true"], 2, "--concurrency"),
    (["queue=people", "-c", "999", "--", "true"], 2, "at most"),
    (["queue=people", "lease_seconds=0", "--", "true"], 6, "lease_seconds"),
    (["queue=people", "lease_seconds=3601", "--", "true"], 6, "lease_seconds"),
]


def test_what_cannot_work_is_told_before_anything_is_claimed(shell):
    for words, code, text in CANNOT_WORK:
        done = shell("work", *words)
        assert done.code == code, done.err
        assert text in done.err
    assert not Lease.objects.exists()


def test_a_token_that_may_not_work_ends_it(reader, queue):
    done = reader("work", queue, *sh("true"))
    assert done.code == 3
    assert "forbidden" in done.err


def test_nothing_of_the_worker_is_left_behind(begin, world, queue):
    world.add()
    worker = begin(queue, *sh("sleep 100"))
    eventually(lambda: Lease.objects.filter(state="active").exists())
    eventually(lambda: len(psutil.Process(worker.pid).children()) >= 2)
    family = psutil.Process(worker.pid).children(recursive=True)
    os.kill(worker.pid, signal.SIGTERM)
    ended(worker)
    _, alive = psutil.wait_procs(family, timeout=30)
    assert alive == []
