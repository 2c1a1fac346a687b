"""Tables of tasks: what is found, what is said of what's wrong, and nothing half made."""

from datetime import UTC, datetime

import pytest

from accounts.errors import Invalid
from boards.models import Board, Card, Column
from tests.builders import a_person, a_workspace
from tests.transfer.boards import run_of
from transfer.errors import BadFile
from transfer.files.cells import is_done, list_of, moment_of, order_of, priority_of
from transfer.files.options import Options
from transfer.files.reading import read_file
from transfer.verbs.imports import take_file


@pytest.fixture
def caller(db):
    return a_person(a_workspace())


def read(caller, content, **options):
    content = content if isinstance(content, bytes) else content.encode()
    return read_file(caller, content, Options(**options))


def titles(reading):
    return [card.title for card in reading.document.cards]


PLAIN = "Title,Status\nOne,To do\nTwo,Done\n"
# What it's called, the file, how it's cut, in what, and the titles.
GOOD = {
    "plain": (PLAIN, ",", "utf-8"),
    "semicolons": (PLAIN.replace(",", ";"), ";", "utf-8"),
    "tabs": (PLAIN.replace(",", "\t"), "\t", "utf-8"),
    "bars": (PLAIN.replace(",", "|"), "|", "utf-8"),
    "Excel's own word": ("sep=;\n" + PLAIN.replace(",", ";"), ";", "utf-8"),
    "CRLF": (PLAIN.replace("\n", "\r\n"), ",", "utf-8"),
    "CR": (PLAIN.replace("\n", "\r"), ",", "utf-8"),
    "a mark for UTF-8": ("\ufeff" + PLAIN, ",", "utf-8"),
    "UTF-16, little": (PLAIN.encode("utf-16"), ",", "utf-16"),
    "UTF-16, big, unmarked": (PLAIN.encode("utf-16-be"), ",", "utf-16"),
    "Windows": (PLAIN.replace("To do", "Für später").encode("cp1252"), ",", "cp1252"),
    "no header": ("One,2026-01-02\nTwo,2026-01-03\n", ",", "utf-8"),
    "commas in quotes": ('Title,Notes\nOne,"a, b; c"\nTwo,"d\ne"\n', ",", "utf-8"),
    "blank rows": (PLAIN.replace("\n", "\n,\n\n"), ",", "utf-8"),
    "one column": ("Title\nOne\nTwo\n", ",", "utf-8"),
    "short rows": ("Title,Status,Notes\nOne\nTwo,Done\n", ",", "utf-8"),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_table_is_read_as_it_is(caller, name):
    content, delimiter, encoding = GOOD[name]
    found = read(caller, content)
    assert titles(found) == ["One", "Two"]
    assert (found.delimiter, found.encoding) == (delimiter, encoding)
    assert found.skipped == []
    assert (found.read, len(found.rows)) == (2, 2)


BAD = {
    "nothing": (b"", "empty"),
    "blanks": (b"\xef\xbb\xbf \r\n,,,\n", "empty"),
    "zeros": (b"\0" * 100, "empty"),
    "a workbook": (b"PK\x03\x04....", "save the sheet as CSV"),
    "a picture": (b"\x89PNG\r\n\x1a\n", "a picture"),
    "noise": (bytes(range(32)) * 40, "isn't text"),
    "an open quote": (b'Title,Notes\nOne,"never\nTwo,b\n', "never ends"),
    "cut JSON": (b'{"lists": [{"id": "1"', "cut off"),
    "cut in a text": (b'{"lists": [{"id": "1', "cut off"),
    "no JSON": (b'{"lists": nothing}', "Not JSON in line 1"),
    "other JSON": (b'{"issues": []}', "neither a board of Novum nor one of Trello"),
    "a list": (b"[1, 2]", "neither"),
    "deep JSON": (b'{"a":' * 100_000, "nested too deep"),
    "a huge number": (b'{"a": ' + b"9" * 10_000 + b"}", ""),
    "a later version": (b'{"format": "novum-board", "version": 2}', "version 2"),
    "half a board": (b'{"format": "novum-board", "version": 1}', "board"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_can_not_be_read_is_said_and_leaves_nothing(caller, name):
    content, said = BAD[name]
    with pytest.raises(BadFile) as refused:
        take_file(caller, content=content)
    assert said in refused.value.detail
    with pytest.raises(BadFile):
        run_of(caller, content)
    assert not Board.objects.exists()


def test_an_open_quote_can_be_read_as_a_plain_character(caller):
    text = 'Title,Notes\n12" pipe,a\nOne,"never\nTwo,b\n'
    with pytest.raises(BadFile) as refused:
        read(caller, text)
    assert "line 3" in refused.value.detail
    found = read(caller, text, quotes=False)
    assert titles(found) == ['12" pipe', "One", "Two"]
    assert found.document.cards[1].description == '"never'


def test_every_column_has_a_role_and_nothing_of_a_row_is_lost(caller):
    text = (
        "Task,State,Tags,Tags,Due,Prio,Owner,Done,Size,Size,\n"
        f'One,Later,"a, b",c,31.12.2026,High,@{caller.handle},yes,3,4,=1+1,more\n'
    )
    found = read(caller, text)
    (card,) = found.document.cards
    assert [one.name for one in found.document.columns] == ["Later"]
    assert card.labels == ["a", "b", "c"]
    assert card.due == datetime(2026, 12, 31, 12, tzinfo=UTC)
    assert (card.priority, card.assignee, card.state) == (2, caller.handle, "done")
    assert card.properties == {
        "Size": "3",
        "Size (2)": "4",
        "Column 11": "=1+1",
        "Column 12": "more",
    }
    assert any("more cells than the header" in note for note in found.notes)


def test_roles_can_be_said(caller):
    text = "a,b,c\nOne,Two,[1]\n"
    found = read(caller, text, header=True, roles=["ignore", "title", "payload"])
    assert titles(found) == ["Two"]
    assert found.document.cards[0].payload == {"c": [1]}
    for wrong in (["title", "title"], ["list", "labels", "due"]):
        with pytest.raises(Invalid):
            read(caller, text, roles=wrong)


def test_a_file_of_todoist_has_sections_and_notes(caller):
    text = (
        "TYPE,CONTENT,DESCRIPTION,PRIORITY,INDENT,DATE\n"
        "meta,view_style=board,,,,\nsection,Today,,,,\n,,,,,\n"
        "task,One,Text,4,1,\nnote,A note,,,,\nsection,,,,,\ntask,Two,,1,2,\n"
    )
    found = read(caller, text)
    assert titles(found) == ["One", "Two"]
    assert [one.name for one in found.document.columns] == ["Today", "Imported"]
    assert found.document.cards[0].description == "Text\n\nA note"
    assert found.rows == [5, 8]
    assert "settings of Todoist, not carried: 1." in found.notes[-1]


FAULTY = "Title,Due,Priority,Done\nOne,soon,,\nTwo,,very,\nThree,,,perhaps\n,2026-01-01,,\nFour,2026-01-01,2,no\n"


def test_a_row_that_can_not_be_a_card_is_skipped_with_its_line_and_why(caller):
    found = read(caller, FAULTY)
    assert titles(found) == ["Four"]
    assert [(one.row, one.title, one.reason) for one in found.skipped] == [
        (2, "One", "Due 'soon' is not a date."),
        (3, "Two", "Priority 'very' is not a priority."),
        (4, "Three", "Done 'perhaps' is not yes or no."),
        (5, "", "It has no title."),
    ]
    assert found.read == 5


def test_or_it_is_kept_with_the_cell_as_a_property(caller):
    found = read(caller, FAULTY, faults="keep")
    assert titles(found) == ["One", "Two", "Three", "Four"]
    assert found.document.cards[0].properties == {"Due": "soon"}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("a\0b,x", "U+0000"),
        ("One," + "x" * 100_001, "Too long"),
        ("\u200b,x", "can be seen"),
    ],
)
def test_what_can_not_be_kept_is_skipped(caller, row, said):
    found = read(caller, f"Title,Notes\n{row}\nFine,\n")
    assert titles(found) == ["Fine"]
    assert said in found.skipped[0].reason


def test_long_titles_and_labels_are_cut_and_told(caller):
    found = read(caller, f"Title,Labels\n{'t' * 900},{'l' * 60}\n")
    (card,) = found.document.cards
    assert len(card.title) == 500
    assert card.description == "t" * 900
    assert card.labels == ["l" * 50]
    assert len(found.notes) == 2


def test_too_many_lists_are_refused_before_anything_is_made(caller):
    rows = "".join(f"Card {i},List {i}\n" for i in range(101))
    with pytest.raises(Invalid, match="at most 100"):
        run_of(caller, f"Title,List\n{rows}".encode())
    assert not Board.objects.exists()
    assert not Column.objects.exists()


def test_people_who_are_not_here_are_told_and_kept_by_name(caller):
    found = read(caller, "Title,Assignee\nOne,Nobody Known\n")
    (card,) = found.document.cards
    assert card.assignee is None
    assert card.properties == {"Assignee": "Nobody Known"}
    assert "Nobody Known (1)" in found.notes[0]


def test_a_hundred_thousand_rows_are_read(caller):
    text = "Title,Status\n" + "A card like any other,To do\n" * 100_000
    assert len(read(caller, text).document.cards) == 100_000


DAY = datetime(2026, 11, 30, 12, tzinfo=UTC)
AT = datetime(2026, 11, 30, 14, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "order", "moment"),
    [
        ("2026-11-30", "", DAY),
        ("2026/11/30", "", DAY),
        ("20261130", "", DAY),
        ("2026-11-30T14:05Z", "", AT),
        ("2026-11-30 16:05:00+02:00", "", AT),
        ("30.11.2026", "dmy", DAY),
        ("30.11.26", "dmy", DAY),
        ("11/30/2026", "mdy", DAY),
        ("30/11/2026 14:05", "dmy", AT),
        ("11/30/2026 2:05 PM", "mdy", AT),
        ("Nov 30, 2026", "", DAY),
        ("30 November 2026", "", DAY),
        ("30/Nov/26 14:05", "", AT),
        ("Mon Nov 30 2026 14:05:00 GMT+0000 (Coordinated Universal Time)", "", AT),
        ("31.02.2026", "dmy", None),
        ("11/30/2026", "dmy", None),
        ("soon", "", None),
        ("12", "", None),
        ("1.5", "dmy", None),
        ("every 2 weeks", "", None),
        ("0000-00-00", "", None),
    ],
)
def test_dates_are_read_as_tools_write_them(text, order, moment):
    assert moment_of(text, order) == moment


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["13/01/2026", "01/02/2026"], "dmy"),
        (["01/13/2026", "01/02/2026"], "mdy"),
        (["01/02/2026"], "either"),
        (["13/01/2026", "01/13/2026"], "both"),
        (["1.2.2026"], "dmy"),
        (["2026-01-01", ""], ""),
    ],
)
def test_whether_day_or_month_comes_first_follows_from_the_column(texts, order):
    assert order_of(texts) == order


def test_dates_that_can_be_read_in_two_ways_are_told(caller):
    text = "Title,Due\nOne,03/04/2026\n"
    found = read(caller, text)
    assert found.document.cards[0].due.month == 4
    assert "two ways" in found.notes[0]
    said = read(caller, text, dates="mdy")
    assert (said.document.cards[0].due.month, said.notes) == (3, [])


def test_cells_mean_what_people_mean():
    assert [priority_of(one) for one in ("", "P0", "Highest", "2 - High", "5")] == [
        *(3, 1, 1, None, 5)
    ]
    assert list_of('["a", "b, c"]') == ["a", "b, c"]
    assert list_of("a; b") == ["a", "b"]
    assert [is_done(one) for one in ("TRUE", "", "2026-01-01", "maybe")] == [
        *(True, False, True, None)
    ]


def test_on_the_board_it_is_what_was_read(caller):
    done = run_of(caller, PLAIN.encode(), file_name="C:\\files\\My tasks.csv")
    assert (done.state, done.read, done.imported, done.skipped) == ("done", 2, 2, 0)
    assert bytes(done.content) == b""
    board = Board.objects.get()
    assert board.name == "My tasks"
    assert list(
        Card.objects.order_by("number").values_list("title", "column__name")
    ) == [("One", "To do"), ("Two", "Done")]
