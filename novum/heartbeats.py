"""Each job of the timetable says when it ran, wherever it does, and its lines are its."""

from time import monotonic
from typing import Any

from celery.signals import task_postrun, task_prerun

from novum.logs import facts
from novum.timetable import tell_themselves, timetable
from supervision import loops

# A worker's process runs one job at a time.
_begun: dict[str, float] = {}
_expected: list[bool] = []


def listen() -> None:
    """From now on, in this process and those that Celery forks from it."""
    task_prerun.connect(_began, dispatch_uid="novum.heartbeats")
    task_postrun.connect(_ended, dispatch_uid="novum.heartbeats")


def _began(task_id: str, task: Any, **_: Any) -> None:
    facts.begin(job=task.name, run=task_id)
    _begun.clear()
    _begun[task_id] = monotonic()


def _ended(task_id: str, task: Any, retval: Any, state: str, **_: Any) -> None:
    facts.begin()
    if not _expected:
        _expected.append(True)
        loops.expect(timetable())
    name = _loops().get(task.name)
    if name is None:
        return
    if isinstance(retval, BaseException):
        loops.failed(name, retval)
    elif state == "SUCCESS":
        loops.ran(name, monotonic() - _begun.get(task_id, monotonic()))


def _loops() -> dict[str, str]:
    themselves = tell_themselves()
    return {
        entry["task"]: name
        for name, entry in timetable().items()
        if name not in themselves
    }
