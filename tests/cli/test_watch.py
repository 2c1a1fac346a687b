"""`novum watch` tells what happens, and goes on after a cut."""

import json
import signal
import threading
import time
from queue import Empty, Queue

import pytest

from novum.running import processes
from tests.processes.waiting import eventually

pytestmark = pytest.mark.processes


class Watching:
    """`novum watch` at work; `lines` grows while it runs."""

    def __init__(self, process):
        self.process, self.lines, self._new = process, [], Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self.process.stdout:
            self._new.put(line.rstrip("\n"))

    def until(self, text) -> str:
        """The first line from here on that has it."""
        while True:
            try:
                self.lines.append(self._new.get(timeout=60))
            except Empty:
                raise AssertionError(f"{text} never came: {self.lines}") from None
            if text in self.lines[-1]:
                return self.lines[-1]

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(20)


@pytest.fixture
def watch(shell, wire):
    """Watches from the moment on that it's returned."""
    shell.environment["NOVUM_URL"] = wire.url
    begun = []

    def watch(*words):
        before = wire.count("/v1/events")
        begun.append(Watching(shell.start("watch", *words)))
        eventually(lambda: wire.count("/v1/events") > before + 1)
        return begun[-1]

    yield watch
    for one in begun:
        one.process.kill()
        one.process.wait()


def test_a_queues_life_is_told_line_by_line(watch, world):
    queue = world.set().queue
    world.add("Before", column=world.queue)
    watching = watch(f"queue={queue}")
    world.add("Elsewhere", column=world.done)
    world.add("Write it\x1b[31m")
    world.claim()
    line = watching.until("card.lease.claimed")
    assert "Before" in line
    assert f"by @{world.worker.handle}" in line
    assert "attempt 1/5" in line
    created = next(one for one in watching.lines if "card.created" in one)
    assert "Write it [31m" in created
    assert "\x1b" not in created
    assert not any("Elsewhere" in one for one in watching.lines)
    assert watching.stop() == 130


def test_with_json_each_line_is_an_event(watch, world):
    watching = watch("--json", f"board_id={world.board}", "types=card.created")
    card = world.add("One")
    event = json.loads(watching.until("card.created"))
    assert event["card_id"] == str(card)
    assert event["data"]["title"] == "One"


def test_a_cut_is_told_once_and_nothing_is_missed(watch, wire, world):
    watching = watch(f"board_id={world.board}")
    wire.lose(7, "/v1/events")
    world.add("Meanwhile")
    assert "Meanwhile" in watching.until("card.created")
    watching.stop()
    assert watching.process.stderr.read().count("Trying on.") == 1


@pytest.fixture
def live(family, server):
    """The process that waits, where `make up` has it."""
    child = processes.live(server.settings)
    child.environment = {**child.environment, **server.environment}
    family.start(child)
    family.wait_until_ready(child, 60)
    yield server.settings.live_port
    family.bury(child)


def quiet(wire, seconds=3.0) -> int:
    """Once nothing was asked for so long; the number of requests until then."""
    asked, since = len(wire.requests), time.monotonic()
    until = since + 60
    while time.monotonic() < since + seconds:
        assert time.monotonic() < until, "it goes on asking"
        time.sleep(0.05)
        if len(wire.requests) != asked:
            asked, since = len(wire.requests), time.monotonic()
    return asked


def test_where_the_server_waits_it_comes_at_once_and_is_asked_for_seldom(
    shell, wire, live, world
):
    shell.environment["NOVUM_URL"] = wire.url
    watching = Watching(shell.start("watch", f"board_id={world.board}", "--json"))
    eventually(lambda: wire.count("/v1/me") == 1)
    asked = quiet(wire)
    world.add("Now")
    watching.until("card.created")
    assert len(wire.requests) == asked
    assert watching.stop() == 130


def test_a_list_of_operations_from_before_an_upgrade_does_no_harm(shell, watch, world):
    shell("get_me")
    (file,) = (shell.folder / ".cache" / "novum").iterdir()
    kept = json.loads(file.read_text())
    for one in kept["listing"]["operations"]:
        one["fields"] = [f for f in one["fields"] if f["name"] != "wait_seconds"]
    file.write_text(json.dumps(kept))
    watching = watch(f"board_id={world.board}")
    world.add("Now")
    assert "Now" in watching.until("card.created")


def test_what_cannot_be_watched_is_told(shell, world):
    shell("watch", "queue=nowhere").failed(4, "no queue nowhere")
    shell("watch", "board_id=x").failed(6)
    shell("watch", "limit=3").failed(2, "novum watch takes")
    shell("watch", "queue=a", "queue=b").failed(2, "queue is given twice")
