"""The loop as Celery runs it: one at a time, gone when the worker goes."""

import signal
import subprocess
import sys
import threading
from contextlib import nullcontext
from datetime import timedelta
from uuid import uuid4

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from accounts.models import User
from novum.celery import app
from supervision import loops
from tasks_people.verbs.messages import pull
from tests.builders import a_world
from tests.processes.fixtures import database_url
from tests.webhooks import receivers
from tests.webhooks.conftest import listen, settled, until
from tests.webhooks.receivers import receiving
from webhooks import background, conf, loop, one_at_a_time
from webhooks.models import Endpoint, Turn
from webhooks.one_at_a_time import turn
from webhooks.verbs.endpoints import send_test

# Events are told once no older transaction is open anywhere in the cluster, so those of
# tests beside these would hold them up.
pytestmark = pytest.mark.processes


@pytest.fixture
def world(transactional_db):
    return a_world()


def test_nothing_is_done_where_nobody_listens(world, monkeypatch):
    runs = []
    monkeypatch.setattr(loop, "run", lambda *given: runs.append(given) or 1)
    assert background.deliver() == 0
    assert runs == []


def test_there_is_one_run_at_a_time(world, monkeypatch):
    monkeypatch.setattr(conf, "RUN_SECONDS", 60.0)
    with receiving() as receiver:
        listener = listen(world, receiver)
        send_test(world.owner, endpoint_id=listener.endpoint)
        done: list[int] = []

        def run():
            done.append(background.deliver())
            connection.close()

        first = threading.Thread(target=run)
        first.start()
        until(lambda: receiver.got)
        assert background.deliver() == 0
        background._ending.set()
        try:
            first.join(30)
        finally:
            background._ending.clear()
        assert done == [1]
        # And the turn is free again.
        with turn(0) as is_lost:
            assert is_lost


def test_a_turn_is_kept_and_a_killed_workers_is_anothers_when_its_time_is_up(
    world, monkeypatch
):
    monkeypatch.setattr(one_at_a_time, "KEPT_SECONDS", 6.0)
    monkeypatch.setattr(one_at_a_time, "RENEW_SECONDS", 0.2)
    with turn(0) as is_lost:
        taken_until = Turn.objects.get().until
        until(lambda: Turn.objects.get().until > taken_until + timedelta(seconds=1))
        assert not is_lost()
        with turn(0) as others, turn(1) as next_number:
            assert others is None
            assert not next_number()
        # Somebody else has it after a time in which this process stood still.
        Turn.objects.filter(number=0).update(holder=uuid4())
        until(is_lost)
    with turn(0) as others:
        assert others is None
    until(lambda: taken(0))


def taken(number):
    with turn(number) as is_lost:
        return is_lost is not None


def test_only_the_loop_itself_says_that_it_goes(world, monkeypatch):
    loops.forget()
    with receiving() as receiver:
        listen(world, receiver)
        app.loader.import_default_modules()
        with monkeypatch.context() as patched:
            patched.setattr(background, "turn", lambda number: nullcontext(None))
            app.tasks["webhooks.background.deliver"].apply()
        assert not has_run()
        until(lambda: loop.run(0.5) or has_run())


def has_run():
    found = loops.last_runs().get(loop.NAME)
    return found is not None and found.ran_at is not None


def test_the_command_delivers_until_its_time_is_over(world, capsys):
    with receiving() as receiver:
        listener = listen(world, receiver)
        world.add()
        until(lambda: call_command("deliver", seconds=0.5) or receiver.got)
        until(lambda: settled(listener))
    assert "tries." in capsys.readouterr().out


def test_looking_after_switches_off_what_has_no_owner(world):
    with receiving() as receiver:
        listen(world, receiver)
    Endpoint.objects.get().owner.__class__.objects.filter(
        pk=world.owner.actor_id
    ).update(disabled_at="2026-01-01T00:00:00Z")
    background.look_after()
    assert Endpoint.objects.get().off == Endpoint.Off.OWNER


def test_the_owner_is_told_by_a_message_and_by_mail(world, settings, mailoutbox):
    settings.MAILERS = {
        "default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}
    }
    User.objects.filter(actors=world.owner.actor_id).update(email="ann@example.com")
    with receiving(receivers.status(410)) as receiver:
        listener = listen(world, receiver, description="The CI")
        send_test(world.owner, endpoint_id=listener.endpoint)
        until(
            lambda: call_command("deliver", seconds=0.3) or not listener.row().enabled
        )
    (message,) = pull(world.owner, topics="webhooks")
    assert message.type == "webhook.switched_off"
    assert message.payload["reason"] == "gone"
    assert message.payload["name"] == "The CI"
    until(lambda: mailoutbox)
    (mail,) = mailoutbox
    assert mail.to == ["ann@example.com"]
    assert "The CI" in mail.body
    assert f"/webhooks/{listener.endpoint}" in mail.body


def test_a_real_worker_delivers_within_seconds_and_stops_at_once(world, tmp_path):
    """Beat starts the loop; a hanging receiver doesn't hold up the end."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "DATABASE_URL": database_url(),
        "REDIS_URL": settings.REDIS_URL,
        "SECRET_KEY": settings.SECRET_KEY,
        "NOVUM_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1",
        # Much longer than the end may take.
        "NOVUM_WEBHOOK_TOTAL_SECONDS": "150",
    }
    command = [
        *(sys.executable, "-m", "celery", "-A", "novum.celery", "worker", "--beat"),
        *("--schedule", str(tmp_path / "beat"), "--concurrency", "3"),
        *("--without-gossip", "--without-mingle"),
    ]
    with receiving() as fast, receiving(receivers.hanging) as hanging:
        good, bad = listen(world, fast), listen(world, hanging)
        with (tmp_path / "log").open("w") as log:
            worker = subprocess.Popen(
                command, cwd=settings.BASE_DIR, env=environment, stdout=log, stderr=log
            )
        try:
            world.add()
            until(lambda: fast.got and hanging.got, 90)
            world.add()
            until(lambda: len(fast.got) == 2)
            worker.send_signal(signal.SIGTERM)
            worker.wait(120)
        finally:
            worker.kill()
            worker.wait()
    assert settled(good)
    assert {one.problem for one in bad.deliveries()} <= {"", "interrupted", "timeout"}
    assert all(one.taken is None for one in bad.deliveries())
