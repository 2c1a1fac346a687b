"""Loops say when they ran: by Celery's signals, by the delivery loop, by a command."""

import pytest
from django.core.management import call_command
from django.db import DatabaseError

from novum.celery import app
from novum.timetable import tell_themselves, timetable
from supervision import loops
from supervision.models import Loop
from webhooks import background, loop


@pytest.fixture(autouse=True)
def _nothing_written():
    loops.forget()
    yield
    loops.forget()


@pytest.fixture
def run(db):
    """As the worker does it, in this process."""
    app.loader.import_default_modules()
    tasks = {entry["task"]: name for name, entry in timetable().items()}

    def run(task_name):
        app.tasks[task_name].apply()
        return loops.last_runs().get(tasks[task_name])

    return run


def test_each_job_that_ends_well_says_so(run):
    for name, entry in timetable().items():
        if name in tell_themselves():
            continue
        found = run(entry["task"])
        assert found is not None, name
        assert found.seconds_ago < 600
        assert found.problem == ""


def test_one_that_fails_says_with_what_kind_of_error_until_it_runs_again(
    run, monkeypatch
):
    def broken():
        raise DatabaseError("password=secret")

    monkeypatch.setattr("leases.background.reap_once", broken)
    found = run("leases.background.reap")
    assert (found.problem, found.seconds_ago) == ("DatabaseError", None)
    monkeypatch.undo()
    found = run("leases.background.reap")
    assert (found.problem, found.seconds_ago is None) == ("", False)


def test_it_is_written_down_every_few_seconds_at_most(
    db, monkeypatch, django_assert_num_queries
):
    time = [100.0]
    monkeypatch.setattr(loops, "monotonic", lambda: time[0])
    loops.ran("reap")
    first = Loop.objects.get().ran_at
    with django_assert_num_queries(0):
        loops.ran("reap")
    time[0] += loops.WRITE_SECONDS
    loops.ran("reap")
    assert Loop.objects.get().ran_at > first


def test_a_loop_goes_on_where_it_cannot_be_written_down(db, monkeypatch):
    def broken(**_):
        raise DatabaseError

    monkeypatch.setattr(Loop.objects, "update_or_create", broken)
    loops.ran("reap")
    loops.failed("reap", ValueError())
    assert loops.is_due("reap")


def test_the_commands_say_it_too(db):
    call_command("reap", verbosity=0)
    assert loops.last_runs()["reap"].seconds_ago < 600


def test_the_delivery_loop_itself_says_that_it_goes(world):
    assert background.deliver() == 0
    assert loop.NAME in loops.last_runs()
