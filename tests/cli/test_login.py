"""Address and token: kept for nobody else, and sent to nobody else."""

import json
import os
import pty
import stat
import subprocess
from pathlib import Path

import pytest

from tests.doors.http import token_of

pytestmark = pytest.mark.processes


@pytest.fixture
def token(a_lasting_world) -> str:
    return token_of(a_lasting_world.worker)


def kept(shell) -> Path:
    return shell.folder / ".config" / "novum" / "config.json"


def test_login_keeps_what_works_readable_for_nobody_else(bare, url, token, world):
    done = bare("login", f"{url}/v1/", stdin=f"{token}\n")
    assert done.code == 0
    assert f"@{world.worker.handle}" in done.err
    assert token not in done.out + done.err
    assert stat.S_IMODE(kept(bare).stat().st_mode) == 0o600
    assert stat.S_IMODE(kept(bare).parent.stat().st_mode) == 0o700
    assert bare("get_me", "-q", "actor.handle").out == f"{world.worker.handle}\n"


def test_login_by_a_person_does_not_show_the_token(bare, url, token):
    terminal, end = pty.openpty()
    child = subprocess.Popen(
        [str(bare.program), "login"],
        **dict.fromkeys(("stdin", "stdout", "stderr"), end),
        cwd=bare.folder,
        env=bare.all({}),
        start_new_session=True,
    )
    os.close(end)
    shown = ""
    for question, answer in (("Address", url), ("Worker token", token)):
        while question not in shown:
            shown += os.read(terminal, 1_000).decode()
        os.write(terminal, f"{answer}\n".encode())
    while "signed in" not in shown:
        shown += os.read(terminal, 1_000).decode()
    assert child.wait(20) == 0
    os.close(terminal)
    assert token not in shown
    assert json.loads(kept(bare).read_text()) == {"url": url, "token": token}


def test_a_token_that_does_not_work_is_not_kept(bare, url):
    bare("login", url, stdin="nvma_wrong\n").failed(3, "(401)")
    bare("login", url, stdin="").failed(2, "No token")
    bare("login", url, stdin="two words\n").failed(2, "token")
    bare("login", "http://127.0.0.1:9", stdin="nvma_x\n").failed(8)
    assert not kept(bare).exists()


def test_xdg_says_where(bare, url, token):
    other = bare.folder / "elsewhere"
    assert bare("login", url, stdin=token, XDG_CONFIG_HOME=str(other)).code == 0
    assert (other / "novum" / "config.json").exists()
    assert not kept(bare).exists()


def test_logout_forgets(bare, url, token):
    bare("login", url, stdin=token)
    assert bare("logout").code == 0
    assert not kept(bare).exists()
    bare("get_me", NOVUM_URL=url).failed(2, "No token", "novum login")
    assert bare("logout").code == 0


def test_a_kept_token_goes_to_no_other_server(bare, url, token, wire):
    bare("login", url, stdin=token)
    bare("get_me", NOVUM_URL=wire.url).failed(2, "No token for")
    bare("get_me", "--url", wire.url).failed(2, "No token for")
    assert not any("Authorization" in head for head in wire.heads)


def test_the_environment_goes_before_what_is_kept(bare, url, token, world):
    bare("login", url, stdin=token)
    owner = token_of(world.owner)
    handle = ("get_me", "-q", "actor.handle")
    assert bare(*handle, NOVUM_TOKEN=owner).out == f"{world.owner.handle}\n"
    assert bare(*handle, NOVUM_URL=url + "/", NOVUM_TOKEN="").code == 0


def test_a_configuration_that_others_can_read_is_told(bare, url, token):
    bare("login", url, stdin=token)
    kept(bare).chmod(0o644)
    done = bare("get_me")
    assert done.code == 0
    assert "chmod 600" in done.err


def test_a_broken_configuration_is_as_good_as_none(bare, url, token):
    kept(bare).parent.mkdir(parents=True)
    for text in ("{", "[]", '{"url": 7}'):
        kept(bare).write_text(text)
        kept(bare).chmod(0o600)
        assert bare("get_me", NOVUM_URL=url, NOVUM_TOKEN=token).code == 0
