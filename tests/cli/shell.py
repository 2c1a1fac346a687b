"""Run `novum` as a person or a script does: the installed command, in a home of its
own, in front of the real web server."""

import json
import os
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 90


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)

    def failed(self, code: int, *texts: str) -> None:
        """Nothing on standard output, one readable line on standard error."""
        assert (self.code, self.out) == (code, ""), (self.code, self.out, self.err)
        assert self.err.startswith("novum: ")
        assert self.err.count("\n") == 1, self.err
        assert "Traceback" not in self.err
        for text in texts:
            assert text in self.err, self.err


@dataclass
class Shell:
    """`environment` goes along; `folder` is the home and where commands run."""

    program: Path
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def __call__(self, *words: str, stdin: str = "", **more: str) -> Done:
        return self.run([str(self.program), *words], stdin, **more)

    def line(self, text: str, **more: str) -> Done:
        """A command line, with the quotes and pipes that a shell knows."""
        return self.run(["bash", "-c", text], "", **more)

    def run(self, command: list[str], stdin: str, **more: str) -> Done:
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=self.all(more),
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(self.program), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.all(more),
            # The tests may run under nohup, which programs would inherit.
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        )

    def all(self, more: dict[str, str]) -> dict[str, str]:
        path = f"{self.program.parent}:{os.environ['PATH']}"
        home = {"HOME": str(self.folder), "PATH": path, "LANG": "C.UTF-8"}
        return {**home, **self.environment, **more}
