"""What the processes that are measured take, as Linux tells it (proc(5))."""

import os
from pathlib import Path

from novum.running.children import Child

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def children(of: Child) -> list[int]:
    """The ids of the processes that `of` has started and that still live."""
    assert of.process is not None
    pid = of.process.pid
    return [int(one) for one in _proc(pid, f"task/{pid}/children").split()]


def resident_bytes(pid: int) -> int:
    return int(_proc(pid, "statm").split()[1]) * _PAGE_BYTES


def processor_seconds(of: Child) -> float:
    """Of its children, those that have ended included (each pgbench has new ones)."""
    assert of.process is not None
    while True:
        living = children(of)
        try:
            ticks = sum(_ticks(pid, 11) for pid in living)
        except (FileNotFoundError, ProcessLookupError):
            continue
        ticks += _ticks(of.process.pid, 13)
        # Else one of them was counted twice, or not at all.
        if children(of) == living:
            return ticks / _TICKS_PER_SECOND


def seconds_of(pid: int) -> float:
    """Of the processor, by this one process without its children."""
    return _ticks(pid, 11) / _TICKS_PER_SECOND


def own_seconds() -> float:
    """Of this process, which is the load, and of its ended children: pgbench."""
    return sum(os.times()[:4])


def _ticks(pid: int, at: int) -> int:
    """User and system time: of itself at 11, of its ended children at 13."""
    # The name in brackets may hold spaces.
    fields = _proc(pid, "stat").rpartition(")")[2].split()
    return int(fields[at]) + int(fields[at + 1])


def _proc(pid: int, file: str) -> str:
    return Path(f"/proc/{pid}/{file}").read_text()
