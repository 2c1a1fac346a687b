"""How many are taken up while others wait for the processors."""

import pytest

from webhooks import conf, pace
from webhooks.pace import Pace

MOST = 200
SECOND = 1_000_000_000


@pytest.fixture
def clock(monkeypatch):
    """`run` says how a while went: how long this thread ran, and waited to run."""

    class Clock:
        now, ran, waited = 1000.0, 0, 0

        def run(self, seconds, ran, waited):
            self.now += seconds
            self.ran += int(ran * SECOND)
            self.waited += int(waited * SECOND)

    found = Clock()
    monkeypatch.setattr(pace, "monotonic", lambda: found.now)
    monkeypatch.setattr(pace, "_ran_and_waited", lambda: (found.ran, found.waited))
    monkeypatch.setattr(conf, "BUSY_PER_SECOND", 400)
    return found


def taken_in(clock, mine, seconds, ran, waited, step=0.1):
    taken = 0
    for _ in range(round(seconds / step)):
        clock.run(step, ran * step, waited * step)
        room = mine.room(MOST)
        mine.took(room)
        taken += room
    return taken


def test_alone_it_goes_as_fast_as_it_can(clock):
    assert taken_in(clock, Pace(), 10, ran=0.9, waited=0.1) == 100 * MOST


def test_where_it_waits_longer_than_it_runs_it_takes_so_many_a_second(clock):
    mine = Pace()
    taken_in(clock, mine, 1, ran=0.1, waited=0.9)
    assert taken_in(clock, mine, 10, ran=0.1, waited=0.9) == pytest.approx(4000, abs=2)


def test_it_saves_up_for_a_second_at_most(clock):
    mine = Pace()
    taken_in(clock, mine, 1, ran=0.1, waited=0.9)
    clock.run(100, 1, 9)
    assert mine.room(10_000) == 400


def test_it_goes_fast_again_afterwards(clock):
    mine = Pace()
    taken_in(clock, mine, 5, ran=0.1, waited=0.9)
    assert mine.is_contended
    taken_in(clock, mine, 1, ran=0.9, waited=0.1)
    assert taken_in(clock, mine, 1, ran=0.9, waited=0.1) == 10 * MOST


def test_without_a_number_it_never_holds_back(clock, monkeypatch):
    monkeypatch.setattr(conf, "BUSY_PER_SECOND", 0)
    assert taken_in(clock, Pace(), 1, ran=0.1, waited=0.9) == 10 * MOST


def test_what_the_system_tells_can_be_read_or_is_left_out(monkeypatch, tmp_path):
    assert all(isinstance(one, int) for one in pace._ran_and_waited())
    monkeypatch.setattr(pace, "_FILE", tmp_path / "missing")
    assert pace._ran_and_waited() == (0, 0)
    (tmp_path / "odd").write_text("1 2")
    monkeypatch.setattr(pace, "_FILE", tmp_path / "odd")
    assert pace._ran_and_waited() == (0, 0)
