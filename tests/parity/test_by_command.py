"""The same story by the command line, in front of the real server."""

import json
from typing import Any

import pytest

from tests.cli.shell import Shell
from tests.doors.recipes import as_json
from tests.parity.doors import Rest
from tests.parity.test_by_page import check_same_as_by_page
from tests.parity.test_parity import all_of, check_same

pytestmark = pytest.mark.processes


class Command:
    def __init__(self, shell: Shell) -> None:
        self.shell = shell

    def ask(self, token: str, operation: str, key: str, /, **values: Any) -> Any:
        words = [
            f"{name}:={json.dumps(each)}" for name, each in as_json(values).items()
        ]
        keyed = ["--key", key] if key else []
        done = self.shell(operation, *words, *keyed, "--raw", NOVUM_TOKEN=token)
        if done.code:
            return {"error": json.loads(done.err)["code"]}
        return json.loads(done.out)


def test_the_command_line_gives_the_same_answers_rows_and_events(
    transactional_db, bare, url
):
    bare.environment = {"NOVUM_URL": url}
    check_same(all_of(Command(bare)), all_of(Rest()))


def test_what_people_do_on_pages_comes_out_the_same_by_the_command_line(
    transactional_db, bare, url
):
    bare.environment = {"NOVUM_URL": url}
    check_same_as_by_page(Command(bare))
