"""Processes of ours: each in its own group, none of which outlives us."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from novum.running.errors import Interrupted, StartError
from novum.running.guard import Guard, send

LOG_LIMIT_BYTES = 10_000_000
START_SECONDS = 60.0


@dataclass
class Child:
    """One process to keep: how it starts, how it is asked to stop, how one sees it works.

    Its output goes to `log`. `is_ready` is None where a living process is all there is
    to see. `patience_seconds` is how long it may take to stop before it is killed.
    """

    name: str
    command: Sequence[str | Path]
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    stop_signal: signal.Signals = signal.SIGTERM
    patience_seconds: float = 10.0
    is_ready: Callable[[], bool] | None = None
    become: Callable[[], None] | None = None
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it; raises StartError where the system refuses."""
        try:
            with self.log.open("ab") as log:
                self.process = subprocess.Popen(
                    self.command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                    env={**os.environ, **self.environment},
                    start_new_session=True,
                    preexec_fn=self.become,
                )
        except (OSError, subprocess.SubprocessError) as error:
            raise StartError(f"{self.name} cannot be started: {error}") from error

    def has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def last_lines(self, count: int = 15) -> str:
        with self.log.open("rb") as log:
            log.seek(max(0, self.log.stat().st_size - 8192))
            lines = log.read().decode(errors="replace").splitlines()
        return "\n".join(f"  {line}" for line in lines[-count:])


class Family:
    """Children that start one after the other and stop in the order of our choice.

    `interrupt` and `kill` may be called from a signal handler.
    """

    def __init__(self) -> None:
        self.is_interrupted = False
        self._guard = Guard()
        self._living: list[Child] = []

    def start(self, child: Child) -> None:
        """Raises StartError, and Interrupted once everything is to stop."""
        if self.is_interrupted:
            raise Interrupted
        child.start()
        assert child.process is not None
        self._living.append(child)
        self._guard.add(child.process.pid, child.stop_signal)

    def wait_until_ready(self, child: Child, seconds: float = START_SECONDS) -> None:
        """Raises StartError, with the end of its log, where it ends or takes longer."""
        deadline = time.monotonic() + seconds
        while not (child.is_ready is None or child.is_ready()):
            if child.has_ended():
                raise StartError(f"{child.name} ended at once:\n{child.last_lines()}")
            self._pause(child, deadline)

    def run(self, child: Child, seconds: float) -> None:
        """Starts a child that has an end, and waits for it; StartError if it fails."""
        self.start(child)
        deadline = time.monotonic() + seconds
        try:
            while not child.has_ended():
                self._pause(child, deadline)
            assert child.process is not None
            if child.process.returncode:
                raise StartError(f"{child.name} failed:\n{child.last_lines()}")
        finally:
            self.bury(child)

    def stop(self, *children: Child) -> None:
        """Asks them to stop, all at once, and waits; those that won't are killed."""
        for child in children:
            if child.process is not None and not child.has_ended():
                child.process.send_signal(child.stop_signal)
        started = time.monotonic()
        for child in children:
            if child.process is not None:
                waited = time.monotonic() - started
                _wait(child.process, child.patience_seconds - waited)
                self.bury(child)

    def bury(self, child: Child) -> None:
        """Ends what an ended (or stubborn) child left behind in its group."""
        if child.process is None:
            return
        send(child.process.pid, signal.SIGKILL)
        child.process.wait()
        self._guard.remove(child.process.pid)
        self._living.remove(child)
        child.process = None

    def interrupt(self) -> None:
        """Everything that waits for a child to get ready raises Interrupted."""
        self.is_interrupted = True

    def kill(self) -> None:
        """No more patience with anybody."""
        for child in self._living:
            if child.process is not None:
                send(child.process.pid, signal.SIGKILL)

    def keep_guard(self) -> None:
        self._guard.keep()

    def close(self) -> None:
        self._guard.close()

    def _pause(self, child: Child, deadline: float) -> None:
        if self.is_interrupted:
            raise Interrupted
        if time.monotonic() > deadline:
            raise StartError(
                f"{child.name} was not ready in time:\n{child.last_lines()}"
            )
        time.sleep(0.02)


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(max(0.0, seconds))
    except subprocess.TimeoutExpired:
        return


def rotate(log: Path) -> Path:
    """Begins a new log, keeping the old one beside it."""
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists():
        log.replace(log.with_suffix(".log.1"))
    log.touch()
    return log


def bound(log: Path, limit_bytes: int = LOG_LIMIT_BYTES) -> None:
    """Keeps a log that is being appended to below about `limit_bytes`."""
    if log.stat().st_size > limit_bytes:
        log.with_suffix(".log.1").write_bytes(log.read_bytes())
        os.truncate(log, 0)
