"""It starts with the standard library and little of that."""

import resource
import subprocess
import tomllib

import pytest

from novum.cli import main
from novum.running.settings import ROOT

pytestmark = pytest.mark.processes
# 150 ms where Python takes ten to start, and more on a slower machine.
MOST_STARTS = 15


def test_a_call_takes_less_processor_time_than_15_bare_starts_of_python(shell):
    """All of it: start, request, answer."""
    shell("get_me")
    bare = ["python3", "-I", "-S", "-c", "pass"]
    calls, starts = [], []
    # By turns, so that what else the machine does slows both alike.
    for _ in range(5):
        calls.append(processor_seconds(lambda: shell("get_me")))
        starts.append(processor_seconds(lambda: shell.run(bare, "")))
    assert min(calls) < MOST_STARTS * min(starts)


def processor_seconds(run) -> float:
    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    assert run().code == 0
    return used() - before


def test_it_needs_no_package_and_loads_none_of_the_server(shell):
    """The command runs without site-packages; what it loads shows in its own words."""
    program = shell.program.read_text()
    assert " -I -S " in program
    words = [f"sys.path.insert(0, {str(ROOT)!r})", "from novum.cli.main import main"]
    code = "\n".join(
        [
            "import sys",
            *words,
            "main(['get_me'])",
            "print([n for n in sys.modules if n.partition('.')[0] in"
            " ('django', 'msgspec', 'accounts', 'boards', 'leases')"
            " or n.startswith('novum.') and not n.startswith('novum.cli')])",
        ]
    )
    done = shell.run(["python3", "-c", code], "")
    assert done.out.splitlines()[-1] == "[]", done


def test_a_module_in_the_folder_is_not_taken_for_one_of_pythons(shell):
    (shell.folder / "json.py").write_text("raise SystemExit('hijacked')")
    assert shell("get_me").code == 0


def test_an_installed_package_has_the_same_command():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"novum": f"{main.main.__module__}:main"}


def test_it_can_be_run_as_a_module(shell):
    done = subprocess.run(
        ["python3", "-m", "novum.cli", "help", "login"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "novum login [URL]" in done.stdout
