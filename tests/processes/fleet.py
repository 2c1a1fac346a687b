"""Many workers, each a process of its own."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.processes.history import Record, read_history

CLIENT = Path(__file__).with_name("client.py")
# Until everybody has got the message and waits for the moment: for one call, and for a
# longer work, which has the time.
HEADSTART_SECONDS = 0.05
LONG_HEADSTART_SECONDS = 0.5


@dataclass
class Process:
    """One worker: tell it what to do, hear what came of it."""

    name: str
    log: Path
    process: subprocess.Popen[str] = field(init=False)

    def __post_init__(self) -> None:
        command = [sys.executable, "-I", "-S", CLIENT, self.log, self.name, self.name]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def tell(self, do: str, **arguments: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")

    def hear(self) -> Any:
        """Its answer; None when it has ended without one."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                with suppress(BrokenPipeError):
                    pipe.close()


class Fleet:
    """Workers with their credentials, at one address."""

    def __init__(self, folder: Path, address: tuple[str, int]) -> None:
        self.folder, self.address = folder, address
        self.processes: list[Process] = []
        self._started = 0

    def start(self, tokens: Iterable[str]) -> list[Process]:
        """One more worker for every token."""
        new = []
        for token in tokens:
            self._started += 1
            name = f"worker-{self._started}"
            process = Process(name, self.folder / f"{name}.jsonl")
            host, port = self.address
            process.tell("set", host=host, port=port, token=token)
            new.append(process)
        for process in new:
            assert process.hear() == "ready"
            assert process.hear() == "set"
        self.processes += new
        return new

    def all(self, do: str, **arguments: Any) -> list[Any]:
        """Everybody does the same; their answers."""
        for process in self.processes:
            process.tell(do, **arguments)
        return [process.hear() for process in self.processes]

    def at_once_all(self, do: str, **arguments: Any) -> list[Any]:
        """The same, from the same instant on."""
        return self.all(do, at=time.time() + LONG_HEADSTART_SECONDS, **arguments)

    def at_once(self, path: str, **arguments: Any) -> list[Any]:
        """Everybody makes the same call at the same instant."""
        return self.each_at_once(lambda number: {"path": path, **arguments})

    def each_at_once(self, what: Callable[[int], dict[str, Any]]) -> list[Any]:
        """Everybody makes a call of their own at the same instant."""
        at = time.time() + HEADSTART_SECONDS
        for number, process in enumerate(self.processes):
            process.tell("ask", at=at, **what(number))
        return [process.hear() for process in self.processes]

    def history(self) -> list[Record]:
        return read_history(self.folder)

    def close(self) -> None:
        for process in self.processes:
            process.close()
