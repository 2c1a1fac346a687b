"""The loops' shells: the Celery job does what its parts do, the command one pass."""

from datetime import timedelta
from io import StringIO

from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.utils.timezone import now

from accounts.ids import new_id
from accounts.models import RememberedCall
from boards.models import ClockTimestamp, Column, Event
from novum.background import housekeeping
from novum.celery import app
from tests.builders import card_row, lapse, make_due


def test_housekeeping_does_all_of_its_parts(world, settings):
    settings.EVENT_RETENTION_DAYS = 30
    call = RememberedCall.objects.create(
        credential=new_id(), operation="claim", key="k", fingerprint=b"f"
    )
    RememberedCall.objects.filter(pk=call.pk).update(
        created_at=now() - timedelta(days=2)
    )
    Session.objects.create(session_key="old", session_data="", expire_date=now())
    old = Event.objects.order_by("pk")[0]
    Event.objects.filter(pk=old.pk).update(id="018f0000-0000-7000-8000-000000000000")
    events = Event.objects.count()
    card = world.add(column=world.done)
    Column.objects.filter(pk=world.done).update(archived_at=ClockTimestamp())

    housekeeping()

    assert not RememberedCall.objects.exists()
    assert not Session.objects.exists()
    assert card_row(card).column_id == world.queue
    # One gone; a creation and a rescue have come.
    assert Event.objects.count() == events - 1 + 2


def test_every_job_of_the_timetable_is_one_that_the_worker_knows():
    app.loader.import_default_modules()
    assert {entry["task"] for entry in app.conf.beat_schedule.values()} <= set(
        app.tasks
    )


def test_reap_does_one_pass_and_says_so(world):
    world.set(backoff_seconds=[60])
    world.add_many(2)
    failed = world.fail_card()
    lapse(world.claim())
    make_due(failed)
    out = StringIO()
    call_command("reap", stdout=out)
    assert out.getvalue() == "2 cards changed or were judged.\n"
    call_command("reap", stdout=out)
    assert out.getvalue().splitlines()[1] == "0 cards changed or were judged."
