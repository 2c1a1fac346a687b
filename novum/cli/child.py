"""A command at work on one job: its input, its output, its end."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import IO, Any

from novum.cli.jobs import Job
from novum.running.guard import Guard, is_alive, send

# The server takes no more (novum.cleaning).
MOST_BYTES = 1024 * 1024
LAST_WORDS_SECONDS = 1.0


class Child:
    """In a process group of its own, which dies with us, whatever ends us (`guard`)."""

    def __init__(self, command: list[str], job: Job, url: str, guard: Guard) -> None:
        """Raises OSError where it can't be started."""
        self._guard, self._lines = guard, [""]
        # Closed by its own end, when the job is.
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        with tempfile.TemporaryFile() as task:
            task.write(json.dumps(job.content, ensure_ascii=False).encode())
            task.seek(0)
            self._process = subprocess.Popen(
                command,
                stdin=task,
                stdout=self._output,
                stderr=subprocess.PIPE,
                env={**os.environ, **_environment(job, url)},
                start_new_session=True,
            )
        guard.add(self._process.pid, signal.SIGKILL)
        assert self._process.stderr
        self._listener = threading.Thread(
            target=self._listen, args=(self._process.stderr,), daemon=True
        )
        self._listener.start()

    def wait(self, seconds: float) -> int | None:
        """The exit code; None when it's still at work."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self, patience_seconds: float, hurry: Callable[[], bool]) -> None:
        """Ask it to end, and kill it if it doesn't in time, or in a `hurry`."""
        send(self._process.pid, signal.SIGTERM)
        deadline = time.monotonic() + patience_seconds
        while is_alive(self._process.pid) and time.monotonic() < deadline:
            if hurry():
                break
            self.wait(0.05)
        self.close()

    def close(self) -> None:
        """Nothing of it is left at work."""
        send(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._guard.remove(self._process.pid)
        self._listener.join(LAST_WORDS_SECONDS)

    def output(self) -> bytes | None:
        """All it has written; None for more than the server takes."""
        size = self._output.seek(0, os.SEEK_END)
        self._output.seek(0)
        return self._output.read() if size <= MOST_BYTES else None

    def last_words(self) -> str:
        """The last line that it wrote to standard error."""
        return self._lines[0]

    def _listen(self, pipe: IO[bytes]) -> None:
        for line in pipe:
            sys.stderr.buffer.write(line)
            sys.stderr.buffer.flush()
            if text := line.decode(errors="replace").replace("\0", "").strip():
                self._lines[0] = text
        pipe.close()


def _environment(job: Job, url: str) -> dict[str, str]:
    """So that the command can call `novum` itself."""
    return {
        "NOVUM_URL": url,
        "NOVUM_TASK_ID": job.id,
        "NOVUM_TASK_KEY": job.key,
        "NOVUM_ATTEMPT": str(job.attempt),
    }


def result_of(output: bytes) -> Any:
    """JSON as it is, other text as `{"text": …}`, nothing as None."""
    text = output.decode(errors="replace").strip()
    if not text:
        return None
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return {"text": text.replace("\0", "")}


def _refuse(word: str) -> Any:
    raise ValueError(word)
