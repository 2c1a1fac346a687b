"""Ends what a supervisor started when the supervisor cannot do it any more.

`kill -9` gives a process no chance to stop its children, and neither Granian nor
Celery's beat notices that its parent is gone. So a second, tiny process holds one end
of a pipe: when the pipe closes without a goodbye, it ends every group it was told of.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable

PATIENCE_SECONDS = 5.0


class Guard:
    """The supervisor's end of the pipe."""

    def __init__(self) -> None:
        self._groups: dict[int, signal.Signals] = {}
        self._process = self._start()

    def add(self, group: int, stop_signal: signal.Signals) -> None:
        """From now on this process group dies with us, `stop_signal` first."""
        self._groups[group] = stop_signal
        self._tell(f"+ {group} {stop_signal.value}")

    def remove(self, group: int) -> None:
        """The group has ended; its number may come to belong to somebody else."""
        self._groups.pop(group, None)
        self._tell(f"- {group}")

    def keep(self) -> None:
        """Starts a new guard where somebody has ended ours."""
        if self._process.poll() is not None:
            self._process = self._start()

    def close(self) -> None:
        """Ends the guard, and with it every group that is still known to it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
        except BrokenPipeError:
            self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        assert process.stdin is not None
        for group, stop_signal in self._groups.items():
            process.stdin.write(f"+ {group} {stop_signal.value}\n".encode())
        return process


def is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        # macOS answers so for a group of which only zombies are left.
        return False
    return True


def send(group: int, number: int) -> None:
    """Sends a signal to a whole process group; a group that has ended is no error."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return


def end(groups: dict[int, int], patience_seconds: float = PATIENCE_SECONDS) -> None:
    """Sends each group its signal, waits for all of them, and kills the rest."""
    for group, number in groups.items():
        send(group, number)
    deadline = time.monotonic() + patience_seconds
    while any(map(is_alive, groups)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for group in groups:
        send(group, signal.SIGKILL)


def listen(lines: Iterable[str]) -> dict[int, int]:
    """Follows the supervisor's lines to their end; returns the groups still there."""
    groups: dict[int, int] = {}
    for line in lines:
        verb, group, *rest = line.split()
        if verb == "+":
            groups[int(group)] = int(rest[0])
        else:
            groups.pop(int(group), None)
    return groups


if __name__ == "__main__":
    end(listen(sys.stdin))
