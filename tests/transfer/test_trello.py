"""Boards of Trello: what is carried, and what is told where it can't be."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from accounts.roles import WorkspaceRole
from boards.models import Card, Column, Comment
from tests.builders import a_person, a_workspace
from tests.transfer.boards import run_of
from transfer.files.options import Options
from transfer.files.reading import read_file

MADE = "5e8d49a6"  # 2020-04-08 03:47:50 UTC


def an_id(number: int) -> str:
    return f"{MADE}{number:016x}"


@pytest.fixture
def caller(db):
    return a_person(a_workspace())


def a_board(**fields: Any) -> dict[str, Any]:
    return {
        "name": "Spring",
        "desc": "What we do in spring",
        "lists": [
            {"id": "l2", "name": "Doing", "pos": 2, "closed": False},
            {"id": "l1", "name": "To do", "pos": 1.5, "closed": False},
            {"id": "l3", "name": "Old", "pos": 3, "closed": True},
        ],
        "cards": [a_card(1)],
        "labels": [
            {"id": "b1", "name": "seo", "color": "green"},
            {"id": "b2", "name": "", "color": "red"},
        ],
        "members": [
            {"id": "m1", "username": "person1", "fullName": "Person 1"},
            {"id": "m2", "username": "person2", "fullName": "Person 2"},
        ],
        **fields,
    }


def a_card(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": an_id(number),
        "name": f"Card {number}",
        "idList": "l1",
        "pos": number,
        "closed": False,
        **fields,
    }


def read(caller, board):
    return read_file(caller, json.dumps(board).encode(), Options())


def only(found):
    (card,) = found.document.cards
    return card


def test_lists_become_columns_and_cards_keep_their_order(caller):
    cards = [
        a_card(1, pos=30.5),
        a_card(2, pos=2),
        a_card(3, idList="l2"),
        a_card(4, closed=True),
        a_card(5, idList="l3"),
    ]
    done = run_of(caller, json.dumps(a_board(cards=cards)).encode())
    columns = Column.objects.filter(board_id=done.board_id).order_by("position")
    assert [(one.name, one.archived_at is not None) for one in columns] == [
        ("To do", False),
        ("Doing", False),
        ("Old", True),
    ]
    here = Card.objects.filter(column=columns[0]).order_by("position")
    assert [(one.title, one.archived_at is not None) for one in here] == [
        ("Card 2", False),
        ("Card 4", True),
        ("Card 1", False),
    ]
    assert Card.objects.get(title="Card 5").archived_at is not None
    assert "Archived there and here: 1 lists, 2 cards." in done.report["notes"]
    # As old as it was in Trello.
    assert Card.objects.get(title="Card 3").created_at.year == 2020


def test_what_a_card_has_comes_along(caller):
    card = a_card(
        1,
        desc="Read *this*.",
        idLabels=["b1", "b2"],
        due="2026-02-28T10:00:00.000Z",
        dueComplete=True,
        start="2026-02-01T10:00:00.000Z",
        shortUrl="https://trello.com/c/abc",
        attachments=[{"name": "Plan [1]", "url": "https://example.com/a b.png"}],
        customFieldItems=[
            {"idCustomField": "f1", "value": {"number": "3.5"}},
            {"idCustomField": "f2", "idValue": "o1", "value": None},
            {"idCustomField": "f3", "value": {"checked": "true"}},
        ],
    )
    checklist = {
        "id": "c1",
        "idCard": an_id(1),
        "name": "Steps",
        "checkItems": [
            {"name": "second", "state": "incomplete", "pos": 2},
            {"name": "first", "state": "complete", "pos": 1},
        ],
    }
    fields = [
        {"id": "f1", "name": "Hours"},
        {
            "id": "f2",
            "name": "Size",
            "options": [{"id": "o1", "value": {"text": "Large"}}],
        },
        {"id": "f3", "name": "Paid"},
    ]
    found = read(
        caller, a_board(cards=[card], checklists=[checklist], customFields=fields)
    )
    made = only(found)
    assert made.description == (
        "Read *this*.\n\n### Steps\n\n- [x] first\n- [ ] second\n\n"
        "### Attachments\n\n- [Plan \\[1\\]](<https://example.com/a%20b.png>)"
    )
    assert made.labels == ["seo", "red"]
    assert made.due == datetime(2026, 2, 28, 10, tzinfo=UTC)
    assert made.state == "done"
    assert made.properties == {
        "Hours": 3.5,
        "Size": "Large",
        "Paid": True,
        "start": "2026-02-01T10:00:00.000Z",
        "trello": "https://trello.com/c/abc",
    }


def test_people_who_are_here_are_taken_and_others_stay_by_name(caller):
    known = a_person(caller_workspace(caller), WorkspaceRole.MEMBER)
    members = [
        {"id": "m1", "username": known.handle, "fullName": "Known"},
        {"id": "m2", "username": "person2", "fullName": "Person 2"},
    ]
    card = a_card(1, idMembers=["m2", "m1"])
    comments = [
        a_comment("Second", members[1], "2020-05-02T10:00:00.000Z"),
        a_comment("First", members[0], "2020-05-01T10:00:00.000Z"),
    ]
    board = a_board(cards=[card], members=members, actions=comments)
    done = run_of(caller, json.dumps(board).encode())
    made = Card.objects.get()
    assert made.assignee.handle == known.handle
    assert made.properties == {"members": ["Person 2", "Known"]}
    first, second = Comment.objects.order_by("id")
    assert (first.author.handle, first.text) == (known.handle, "First")
    assert first.created_at == datetime(2020, 5, 1, 10, tzinfo=UTC)
    assert second.author_id == caller.actor_id
    assert second.text == "**Person 2** (in Trello):\n\nSecond"
    assert any("person2" in note for note in done.report["notes"])


def caller_workspace(caller):
    from accounts.models import Workspace

    return Workspace.objects.get(pk=caller.workspace_id)


def a_comment(text, member, date):
    return {
        "type": "commentCard",
        "date": date,
        "memberCreator": member,
        "data": {"text": text, "card": {"id": an_id(1)}},
    }


def test_what_is_not_carried_is_told(caller):
    card = a_card(
        1,
        cover={"color": "red"},
        idMembersVoted=["m1"],
        dueReminder=0,
        isTemplate=False,
        badges={"comments": 3},
    )
    actions = [{"type": "updateCard", "date": "2020-01-01T00:00:00.000Z"}]
    notes = read(caller, a_board(cards=[card], actions=actions)).notes
    assert notes == [
        "Archived there and here: 1 lists, 0 cards.",
        "3 older comments are not in the file: Trello exports the latest 1,000 actions"
        " only.",
        "Cover pictures and colours, not carried: 1.",
        "Reminders, not carried: 1.",
        "Votes, not carried: 1.",
        "1 entries of Trello's history (moves, edits) are not carried.",
    ]


@pytest.mark.parametrize(
    ("card", "said"),
    [
        (a_card(1, name=" "), "can be seen"),
        (a_card(1, desc="x" * 100_001), "Too long"),
        (a_card(1, desc="a\0b"), "U+0000"),
        (a_card(1, desc="half \ud800"), "surrogate"),
        (a_card(1, name=None), "can be seen"),
    ],
)
def test_a_card_that_can_not_be_is_skipped_with_why(caller, card, said):
    found = read(caller, a_board(cards=[card, a_card(2)]))
    assert only(found).title == "Card 2"
    assert said in found.skipped[0].reason
    assert found.skipped[0].row == 1


ODD: list[Any] = [None, True, 7, -0.5, "text", [], [None], ["m1", 3], {}, {"id": []}]
PARTS = [
    "id",
    "name",
    "desc",
    "idList",
    "pos",
    "closed",
    "due",
    "dueComplete",
    "idLabels",
    "labels",
    "idMembers",
]
PARTS += [
    "attachments",
    "checklists",
    "customFieldItems",
    "badges",
    "cover",
    "dateLastActivity",
]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_whatever_stands_where_something_else_should_nothing_breaks(caller, odd):
    cards = [a_card(i, **{part: odd}) for i, part in enumerate(PARTS, 1)]
    board = a_board(
        cards=[*cards, odd],
        actions=[{"type": "commentCard", "data": odd}, odd],
        checklists=[{"idCard": odd, "checkItems": odd}, odd],
    )
    run = run_of(caller, json.dumps(board).encode())
    assert run.state == "done"
    assert run.imported + run.skipped == len(cards) + isinstance(odd, dict)
    for part in ("members", "labels", "customFields", "actions", "checklists", "name"):
        assert read(caller, a_board(**{part: odd})).document.cards


def test_a_board_without_lists_keeps_its_cards(caller):
    found = read(caller, a_board(lists=[]))
    assert [one.name for one in found.document.columns] == ["Without a list"]
