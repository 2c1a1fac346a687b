"""The list of operations is asked for seldom, and again when it may be out of date."""

import json
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes
LIST = "/v1/operations.json"


@pytest.fixture
def wired(shell, wire):
    shell.environment["NOVUM_URL"] = wire.url
    return shell


def remembered(shell) -> Path:
    (file,) = (shell.folder / ".cache" / "novum").iterdir()
    return file


def change(shell, **facts):
    file = remembered(shell)
    file.write_text(json.dumps(json.loads(file.read_text()) | facts))


def test_it_is_asked_for_once_an_hour(wired, wire):
    for _ in range(3):
        assert wired("get_me").code == 0
    assert wire.count(LIST) == 1
    change(wired, checked_at=time.time() - 3_601)
    assert wired("get_me").code == 0
    assert wire.count(LIST) == 2
    assert 'If-None-Match: "' in wire.heads[-2]


def test_a_name_that_is_not_in_it_may_be_new(wired, wire):
    wired("get_me")
    listing = json.loads(remembered(wired).read_text())["listing"]
    old = [one for one in listing["operations"] if one["name"] != "list_members"]
    outdated = {"listing": {**listing, "operations": old}, "etag": '"old"'}
    change(wired, **outdated, checked_at=time.time() - 60)
    assert wired("list_members").code == 0
    assert wire.count(LIST) == 2


def test_a_field_that_is_not_in_it_may_be_new(wired, wire):
    wired("get_me")
    listing = json.loads(remembered(wired).read_text())["listing"]
    for one in listing["operations"]:
        one["fields"] = [f for f in one["fields"] if f["name"] != "page_size"]
    change(wired, listing=listing, etag='"old"', checked_at=time.time() - 60)
    assert wired("list_members", "page_size=1").code == 0


def test_mistakes_in_a_row_do_not_ask_again_and_again(wired, wire):
    for _ in range(2):
        wired("get_mee").failed(2)
    assert wire.count(LIST) <= 2


def test_a_server_that_is_away_leaves_the_old_one(wired, wire):
    wired("get_me")
    change(wired, checked_at=0.0)
    wire.close()
    assert "create_card" in wired("help").out


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"url": "other"}'])
def test_a_broken_file_is_replaced(wired, text):
    wired("get_me")
    remembered(wired).write_text(text)
    assert wired("get_me").code == 0
    assert json.loads(remembered(wired).read_text())["listing"]["operations"]


def test_where_nothing_can_be_kept_it_works_all_the_same(wired, wire):
    place = wired.folder / "a file"
    place.touch()
    for _ in range(2):
        assert wired("get_me", XDG_CACHE_HOME=str(place)).code == 0
    assert wire.count(LIST) == 2


def test_a_site_that_is_no_novum_is_told(wired, wire):
    done = wired("get_me", NOVUM_URL=f"{wire.url}/static")
    done.failed(7, "not as Novum does")
