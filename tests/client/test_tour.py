"""The README's tour by curl, run as it stands: a shell, curl and the demo's file."""

import json
import re
import subprocess

import pytest
from django.core.management import call_command

from boards.models import Card, Event
from leases.models import Lease
from novum.running.settings import ROOT


@pytest.fixture
def demo(transactional_db, settings, url, tmp_path):
    """What a first `make up` leaves in the folder in which it was called."""
    settings.NOVUM_DATA = tmp_path / ".novum"
    settings.NOVUM_URL = url
    # How slowly passwords are hashed is nothing to a tour.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    call_command("seed_demo")
    return json.loads((settings.NOVUM_DATA / "demo.json").read_text())


def the_tour():
    section = (ROOT / "README.md").read_text().split("## A tour by curl", 1)[1]
    return re.search(r"```sh\n(.*?)```", section, re.DOTALL)[1]


def answers(text):
    """The JSON documents that were printed one after the other."""
    found, decoder = [], json.JSONDecoder()
    while text := text.strip():
        document, end = decoder.raw_decode(text)
        found.append(document)
        text = text[end:]
    return found


def test_the_tour_works_by_copy_and_paste(demo, tmp_path):
    done = subprocess.run(
        ["bash"],
        input=the_tour(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    me, claim, renewed, completed, events = answers(done.stdout)
    assert me["actor"]["handle"] == "drafter"
    board = demo["boards"][0]
    columns = {column["name"]: column["id"] for column in board["columns"]}
    assert claim["lease"]["column_id"] == columns["Drafting"]
    assert renewed["expires_at"] >= claim["lease"]["expires_at"]
    assert completed["lease"]["state"] == "completed"
    # The first draft was given back once before.
    assert [event["type"] for event in events["items"]][-2:] == [
        "card.lease.claimed",
        "card.lease.completed",
    ]
    lease = Lease.objects.get(pk=claim["lease"]["id"])
    assert (lease.state, lease.renewals) == ("completed", 1)
    card = Card.objects.get(pk=claim["card"]["id"])
    assert card.output == {"text": "A draft."}
    assert str(card.column_id) == columns["Review"]
    told = Event.objects.filter(card_id=card.pk, type="card.lease.completed")
    assert told.count() == 1
