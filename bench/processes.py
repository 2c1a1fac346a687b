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
    """Of its living children; those that ended are forgotten."""
    ticks = 0
    for pid in children(of):
        # The name in brackets may hold spaces.
        fields = _proc(pid, "stat").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / _TICKS_PER_SECOND


def _proc(pid: int, file: str) -> str:
    return Path(f"/proc/{pid}/{file}").read_text()
