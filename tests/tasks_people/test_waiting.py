"""A pull may wait for what comes, but not everybody at once."""

import threading
from time import monotonic

from novum.operations import waiting
from novum.operations.waiting import until_some


def test_what_is_there_is_answered_at_once():
    assert until_some(lambda: [1], 50) == [1]


def test_it_is_answered_as_soon_as_something_comes(monkeypatch):
    monkeypatch.setattr(waiting, "LOOK_EVERY_SECONDS", 0.01)
    found = iter([[], [], [], ["news"]])
    assert until_some(lambda: next(found), 50) == ["news"]


def test_nothing_comes_and_it_ends_in_time(monkeypatch):
    monkeypatch.setattr(waiting, "LOOK_EVERY_SECONDS", 0.01)
    begun = monotonic()
    assert until_some(list, 0.1) == []
    assert 0.1 <= monotonic() - begun < 5


def test_further_ones_are_answered_at_once(monkeypatch):
    monkeypatch.setattr(waiting, "LOOK_EVERY_SECONDS", 0.01)
    over, waits = threading.Event(), threading.Semaphore(0)

    def look():
        waits.release()
        return [1] if over.is_set() else []

    threads = [threading.Thread(target=until_some, args=(look, 30)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(6):
        waits.acquire(timeout=10)
    begun = monotonic()
    assert until_some(list, 30) == []
    assert monotonic() - begun < 5
    over.set()
    for thread in threads:
        thread.join(10)
    begun = monotonic()
    assert until_some(list, 0.05) == []
    assert monotonic() - begun >= 0.05
