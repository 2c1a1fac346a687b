"""A worker as a process of its own, and what it wrote down."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from novum.running.settings import ROOT

SOURCE = Path(__file__).with_name("source.py")


class Program:
    def __init__(self, folder: Path, habits: dict[str, Any]) -> None:
        self.log = folder / f"{habits['name']}.jsonl"
        command = [sys.executable, "-S", SOURCE, self.log, json.dumps(habits)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self._errors = (folder / f"{habits['name']}.err").open("w")
        self.process = subprocess.Popen(command, env=environment, stderr=self._errors)

    def lines(self) -> list[dict[str, Any]]:
        """All but a last one that was cut off by a kill."""
        if not self.log.exists():
            return []
        whole = self.log.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    def saw(self, what: str) -> list[dict[str, Any]]:
        return [line for line in self.lines() if line["what"] == what]

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def ends(self, seconds: float = 50.0) -> int:
        """Its exit code."""
        return self.process.wait(seconds)

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        self.kill()
        self._errors.close()
