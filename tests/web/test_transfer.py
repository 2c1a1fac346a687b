"""The pages of files in and out, without a browser."""

import csv
import io
import json
import random

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.roles import BoardRole, WorkspaceRole
from boards.models import Board, Card
from boards.verbs.boards import create_board, edit_board, set_board_member
from tests.builders import a_person, a_world
from tests.transfer.boards import exported, run_of
from tests.web.account.conftest import client_of
from transfer import contract
from transfer.models import ImportRun
from transfer.verbs.carry_out import carry_out_next

pytestmark = pytest.mark.django_db
MOST_QUERIES = 20
TABLE = "Task;Due\n=SUM(1);soon\nOne;01.02.2026\nTwo;\n"


@pytest.fixture
def world():
    return a_world()


@pytest.fixture
def ann(world):
    return client_of(world.owner)


def upload(client, content, name="tasks.csv"):
    content = content if isinstance(content, bytes) else content.encode()
    return client.post("/import", {"file": SimpleUploadedFile(name, content)})


def draft(client, content, **more):
    reply = upload(client, content, **more)
    assert reply.status_code == 302, reply.content.decode()
    return reply.headers["Location"]


def text(client, address):
    reply = client.get(address)
    assert reply.status_code == 200
    return " ".join(reply.content.decode().split())


def test_from_the_file_to_the_report(ann, world):
    page = draft(ann, TABLE)
    shown = text(ann, page)
    assert '<b class="num">2</b> cards would be made, <b class="num">1</b>' in shown
    assert "Due &#x27;soon&#x27; is not a date." in shown
    assert not Card.objects.exists()
    assert ann.post(page, {"board_name": "Mine"}).headers["Location"] == page
    board = Board.objects.get(name="Mine")
    report = text(ann, page)
    assert f"/boards/{board.pk}" in report
    assert list(board.cards.order_by("number").values_list("title", flat=True)) == [
        "One",
        "Two",
    ]
    rows = ann.get(f"{page}/skipped.csv").content.decode("utf-8-sig")
    # What Excel would run is text.
    assert list(csv.reader(io.StringIO(rows))) == [
        ["row", "title", "reason"],
        ["2", "'=SUM(1)", "Due 'soon' is not a date."],
    ]


def test_what_is_corrected_is_what_is_imported(ann):
    page = draft(ann, "Task|Due,Extra\nOne|01/02/2026,x\n")
    asked = {"delimiter": "|", "dates": "mdy", "role": ["title", "ignore"]}
    asked |= {"encoding": "utf-8", "header": "yes", "quotes": "yes"}
    shown = ann.get(page, asked).content.decode()
    assert shown.count('name="role"') == 4
    assert '<input type="hidden" form="begin" name="role" value="ignore">' in shown
    ann.post(page, asked)
    assert Card.objects.get().properties == {}


def test_roles_chosen_for_another_cut_do_not_count(ann):
    page = draft(ann, "a,b\nOne,Two\n")
    asked = {"base": "utf-8|,|no|yes", "delimiter": ";", "encoding": "utf-8"}
    asked |= {"header": "no", "quotes": "yes", "role": ["ignore", "title"]}
    assert ann.get(page, asked).status_code == 200
    assert "a,b" in text(ann, page + "?delimiter=;&header=no")


def test_what_no_select_offers_is_refused_and_said(ann):
    page = draft(ann, TABLE)
    shown = text(ann, f"{page}?encoding=klingon")
    assert 'role="alert"' in shown
    assert ann.post(page, {"encoding": "klingon"}).status_code == 422
    assert ann.post(page, {"into": "column x"}).status_code == 422
    assert not Card.objects.exists()


def test_a_file_that_can_be_mended_by_reading_is_kept_for_that(ann):
    page = draft(ann, 'Task,Notes\nOne,"open\n')
    assert "never ends" in text(ann, page)
    assert "would be made" in text(ann, f"{page}?quotes=no")
    assert ann.post(page, {"quotes": "no"}).status_code == 302
    assert Card.objects.get().description == '"open'


@pytest.mark.parametrize(
    "content",
    [b"", b"PK\x03\x04", b'{"lists": [', b'{"a": 1}', bytes(range(256)) * 9],
)
def test_what_can_not_be_read_is_said_where_it_was_chosen(ann, content):
    reply = upload(ann, content)
    assert reply.status_code == 422
    assert 'role="alert"' in reply.content.decode()
    assert not ImportRun.objects.exists()


def test_no_bytes_at_all_break_the_page(ann):
    """Cuts and mixtures of good files: a message or a preview, whatever they are."""
    chance = random.Random(7)
    trello = json.dumps({"lists": [{"id": "l"}], "cards": [{"idList": "l"}]}).encode()
    for _ in range(25):
        base = bytearray(
            chance.choice([TABLE.encode(), TABLE.encode("utf-16"), trello])
        )
        for _ in range(chance.randrange(1, 6)):
            base[chance.randrange(len(base))] = chance.randrange(256)
        reply = upload(ann, bytes(base[: chance.randrange(len(base) + 1)]))
        assert reply.status_code in (302, 422)
        if reply.status_code == 302:
            assert ann.get(reply.headers["Location"]).status_code == 200


def test_too_large_a_file_is_refused(ann, monkeypatch):
    monkeypatch.setattr("novum.web.transfer.MAX_FILE_BYTES", 10)
    assert upload(ann, TABLE).status_code == 422
    assert ann.post("/import").status_code == 422


def test_the_same_file_asks_first(ann, world):
    ann.post(draft(ann, TABLE))
    page = draft(ann, TABLE)
    assert "This file was imported" in text(ann, page)
    assert ann.post(page).status_code == 422
    assert Card.objects.count() == 2
    ann.post(page, {"again": "on"})
    assert Card.objects.count() == 4


def test_it_goes_where_one_may_put_cards_only(ann, world):
    other = create_board(world.owner, name="Seen by few")
    edit_board(world.owner, board_id=other, default_role=None)
    caller = a_person(world.workspace, WorkspaceRole.MEMBER)
    bob = client_of(caller)
    page = draft(bob, TABLE)
    shown = text(bob, page)
    assert f'value="column {world.board} {world.done}"' in shown
    assert str(other) not in shown
    assert bob.post(page, {"into": f"board {other}"}).status_code in (302, 404)
    set_board_member(
        world.owner, board_id=world.board, handle=caller.handle, role=BoardRole.VIEWER
    )
    assert str(world.board) not in text(bob, page)
    into = f"column {world.board} {world.done}"
    assert bob.post(page, {"into": into}).status_code == 422
    assert not Card.objects.exists()
    # Nobody else sees the file.
    stranger = client_of(a_person(world.workspace, WorkspaceRole.MEMBER))
    assert stranger.get(page).status_code == 404


def test_from_a_boards_settings_it_goes_there_at_first(ann, world):
    settings = text(ann, f"/boards/{world.board}/settings")
    assert f'href="/import?into=board%20{world.board}"' in settings
    file = SimpleUploadedFile("tasks.csv", TABLE.encode())
    reply = ann.post(f"/import?into=board%20{world.board}", {"file": file})
    shown = text(ann, reply.headers["Location"])
    assert f'<option value="board {world.board}" selected>' in shown


def test_a_large_one_shows_how_far_it_is(ann, world, monkeypatch):
    monkeypatch.setattr("transfer.verbs.imports.MOST_CARDS_AT_ONCE", 0)
    page = draft(ann, TABLE)
    ann.post(page)
    waiting = text(ann, page)
    assert 'hx-trigger="every 1s"' in waiting
    assert "<progress" in waiting
    carry_out_next()
    done = text(ann, page)
    assert "every 1s" not in done
    assert "Open the board" in done


def test_a_draft_can_be_discarded(ann):
    page = draft(ann, TABLE)
    ann.post(f"{page}/discard")
    assert ann.get(page).status_code == 404


def test_a_board_is_kept_as_a_file_by_whoever_sees_it(ann, world):
    world.add("One")
    reply = ann.get(f"/boards/{world.board}/export")
    assert reply.headers["Content-Disposition"] == 'attachment; filename="Content.json"'
    content = b"".join(reply.streaming_content)
    assert content == exported(world.owner, world.board)
    page = draft(ann, content, name="Content.json")
    assert "A board of Novum" in text(ann, page)
    ann.post(page, {"board_name": "Copy"})
    copy = Board.objects.get(name="Copy")
    assert exported(world.owner, copy.pk) == content.replace(
        b'"name":"Content"', b'"name":"Copy"'
    )
    edit_board(world.owner, board_id=world.board, default_role=None)
    bob = client_of(a_person(world.workspace, WorkspaceRole.MEMBER))
    assert bob.get(f"/boards/{world.board}/export").status_code == 404


def test_the_pages_cost_the_same_however_much_there_is(ann, world):
    for i in range(6):
        create_board(world.owner, name=f"Board {i}", columns=("One", "Two"))
        run_of(world.owner, f"Task\nOne {i}\n".encode())
    page = draft(ann, "Task\n" + "Card\n" * 300)
    for address in (page, "/import"):
        with CaptureQueriesContext(connection) as seen:
            assert ann.get(address).status_code == 200
        assert len(seen) <= MOST_QUERIES, [one["sql"] for one in seen]
    assert text(ann, page).count('<b class="clamp') == contract.PREVIEWED_ROWS
