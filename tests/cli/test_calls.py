"""One call of an operation, by the installed command and the real server."""

import json
import re

import pytest

from boards.models import Card, Comment
from tests.builders import a_world
from tests.cli.shell import Shell
from tests.doors.http import token_of

pytestmark = pytest.mark.processes
NOBODY = "00000000-0000-7000-8000-000000000000"


def test_values_arrive_as_the_operation_wants_them(shell, column, world):
    (shell.folder / "brief.md").write_text("# Brief\nTwo lines\n")
    (shell.folder / "payload.json").write_text('{"file": "q3.csv", "rows": [1, 2.5]}')
    card = shell(
        "create_card",
        *column,
        "title=Analyze = it",
        "priority=1",
        "labels=red,green",
        "description=@brief.md",
        "payload:=@payload.json",
        'properties={"lang":"de"}',
        f"assignee=@{world.worker.handle}",
        "due=2026-12-24T18:00:00+01:00",
    ).json
    row = Card.objects.get(pk=card["id"])
    assert (row.title, row.priority) == ("Analyze = it", 1)
    assert row.labels == ["red", "green"]
    assert row.description == "# Brief\nTwo lines"
    assert row.payload == {"file": "q3.csv", "rows": [1, 2.5]}
    assert row.properties == {"lang": "de"}
    assert row.assignee_id == world.worker.actor_id
    assert row.due.isoformat() == "2026-12-24T17:00:00+00:00"


def test_a_file_by_the_name_of_an_assignee_changes_nothing(shell, column, world):
    (shell.folder / world.worker.handle).write_text("somebody else")
    assignee = f"assignee=@{world.worker.handle}"
    card = shell("create_card", *column, "title=Mine", assignee).json
    assert card["assignee"]["handle"] == world.worker.handle


def test_a_query_and_a_header_go_where_they_belong(shell, column, world):
    card = shell("create_card", *column, "title=One").json
    found = shell("list_cards", *column, "state=open", "page_size=1").json
    assert [one["id"] for one in found["items"]] == [card["id"]]
    edit = ("edit_card", f"card_id={card['id']}", "title=Two")
    assert shell(*edit, 'if_match="card-1"').code == 0
    shell(*edit, 'if_match="card-1"').failed(5, "version_mismatch (412)")


def test_text_with_an_at_sign_and_text_from_standard_input(shell, world):
    card = f"card_id={world.add()}"
    assert shell("add_comment", card, "text=@@ann please look").code == 0
    assert shell("add_comment", card, "text=@-", stdin="Naïve 🦦\n").code == 0
    texts = Comment.objects.order_by("created_at").values_list("text", flat=True)
    assert list(texts) == ["@ann please look", "Naïve 🦦"]


WRONG_LINES = [
    (["create_crad"], "Did you mean create_card?"),
    (["no.such.thing"], "no operation no.such.thing"),
    (["get_card"], "get_card needs card_id"),
    (["get_card", "card_id=NOV-1"], "card_id: 'NOV-1' is no id"),
    (["list_cards", "stat=open"], "no field stat. Did you mean state?"),
    (["list_cards", "state"], "'state' is not key=value"),
    (["list_cards", "page_size=many"], "page_size: 'many' is not a whole number"),
    (["list_cards", "q=a", "q=b"], "q is given twice"),
    (["list_cards", "--once"], "--once"),
    (["list_cards", "--nonsense"], "--nonsense"),
    (["list_cards", "--timeout"], "--timeout needs a value"),
    (["list_cards", "--timeout=soon"], "needs a number"),
    (["list_cards", "--key", "k"], "list_cards remembers no keys"),
    (["create_board", "name=@nowhere"], "name: can't read 'nowhere'"),
    (["create_board", "name:={bad"], "name: not JSON"),
    (["create_board", 'name:={"a":1,"a":2}'], "name: not JSON"),
]


def test_a_wrong_line_is_told_in_one_and_sends_nothing(shell):
    for words, text in WRONG_LINES:
        shell(*words).failed(2, text)


def test_a_word_that_is_not_utf_8_is_told(shell):
    done = shell.line(r"novum create_board name=$'caf\xe9'")
    done.failed(2, "is not UTF-8")


def test_what_the_server_refuses_names_the_fields_and_the_code(shell, column):
    wrong = shell("create_card", *column, "title=", "priority=6")
    wrong.failed(6, "invalid (422)", "title: ")
    shell("create_card", *column, "title=x", "priority=6").failed(6, "priority: ")


def test_each_kind_of_problem_has_its_exit_code(shell, reader, column, world):
    shell("get_card", f"card_id={NOBODY}").failed(4, "not_found (404)")
    reader("create_card", *column, "title=x").failed(3, "forbidden (403)")
    stranger = Shell(shell.program, shell.folder, dict(shell.environment))
    stranger.environment["NOVUM_TOKEN"] = token_of(a_world().worker)
    stranger("list_columns", column[0]).failed(4)
    stranger.environment["NOVUM_TOKEN"] = "nvma_wrong"
    stranger("get_me").failed(3, "(401)")
    world.add()
    held = world.claim()
    wrong = [f"lease_id={held.lease.id}", f"lease_token={'x' * 43}"]
    shell("complete_lease", *wrong).failed(5, "lease_lost (409)", "state")
    plain = f"column_id={world.done}"
    shell("claim_next_card", column[0], plain).failed(5, "not_a_queue")


def test_no_server_and_no_novum_are_told_apart(shell, serve):
    shell("get_me", "--url", "http://127.0.0.1:9").failed(8, "No answer from")
    shell("get_me", "--url", "http://nowhere.invalid").failed(8, "no such host")
    shell("get_me", "--url", "ftp://x").failed(2, "not the address of a server")


def test_raw_gives_the_problem_as_it_came(shell):
    done = shell("get_card", f"card_id={NOBODY}", "--raw")
    assert done.code == 4
    assert json.loads(done.err)["code"] == "not_found"


def test_q_prints_bare_what_a_path_leads_to(shell, column, world):
    for title in ("Otter", "Größe"):
        world.add(title, payload={"sizes": [1, {"deep": None}]})
    found = shell("list_cards", *column, "-q", "items.*.title")
    assert found.out == "Otter\nGröße\n"
    assert shell("list_cards", *column, "-q", "items.-1.payload.sizes").out == (
        '[1,{"deep":null}]\n'
    )
    nothing = shell("list_cards", *column, "-qitems.0.payload.sizes.1.deep")
    assert (nothing.code, nothing.out, nothing.err) == (1, "", "")
    shell("list_cards", *column, "-q", "items.0.titel").failed(1, "titel", "title")


def test_an_empty_claim_ends_a_loop_in_a_shell(shell, column, world):
    world.add_many(3)
    claim = " ".join(["novum claim_next_card", *column, "-q lease_token"])
    done = shell.line(f"while TOKEN=$({claim}); do echo took; done")
    assert done.out == "took\n" * 3
    assert done.err == ""


def test_an_answer_without_content_prints_nothing(shell, world):
    words = [f"board_id={world.board}", f"column_id={world.column('Short-lived')}"]
    done = shell("delete_column", *words, NOVUM_TOKEN=token_of(world.owner))
    assert (done.code, done.out, done.err) == (0, "", "")


def test_on_a_terminal_it_is_pretty_and_no_text_moves_the_cursor(shell, world):
    card = world.add("Red \x9b31m and \x1b[31m")
    get = f"novum get_card card_id={card}"
    shown = shell.line(f"script -qec '{get}' /dev/null").out
    assert '\n  "title": "Red \\u009b31m and \\u001b[31m",\n' in shown
    title = shell.line(f"script -qec '{get} -q title' /dev/null").out
    assert title == "Red  31m and  [31m\n"
    assert shell.line(get).out.count("\n") == 1
    assert shell.line(f"script -qec '{get} --raw' /dev/null").out.count("\n") == 1


def test_who_reads_may_stop_reading(shell, world):
    world.add_many(200, description="x" * 500)
    list_all = f"novum list_cards board_id={world.board} page_size=200"
    done = shell.line(f"set -o pipefail; {list_all} | head -c 10")
    assert len(done.out) == 10
    assert done.err == ""


def test_help_shows_every_operation_and_all_of_one(shell):
    overview = shell("help").out
    names = set(re.findall(r"^  ([a-z_.]+)  ", overview, re.M))
    assert {"claim_next_card", "create_card", "list_events"} <= names
    for text in ("NOVUM_URL", "key:=json", "novum work", "7 server"):
        assert text in overview
    one = shell("help", "create_card").out
    assert "novum create_card board_id=BOARD_ID column_id=COLUMN_ID title=TITLE" in one
    assert "priority  whole number 1 to 5, default 3" in one
    assert "assignee  @handle or null" in one
    assert shell("create_card", "--help").out == one
    assert "exit code 75" in shell("help", "work").out
    title = ".title  text of up to 500 characters, needed"
    assert title in shell("help", "bulk_create_cards").out
    shell("help", "create_crad").failed(2, "create_card")


def test_without_a_server_the_grammar_is_shown_all_the_same(bare):
    done = bare(NOVUM_URL="http://127.0.0.1:9")
    assert done.code == 8
    assert "key:=json" in done.out
    assert "No answer" in done.err
