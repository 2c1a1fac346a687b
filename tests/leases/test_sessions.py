"""Statements sent past psycopg's cursors mean the same as through them."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.db import (
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    connection,
    transaction,
)
from django.db.utils import DataError

from leases.statements import sessions
from leases.statements.running import run
from tests.connections import PATIENCE, RolledBack, start

pytestmark = pytest.mark.django_db
ODD = ["plain", "", "NULL", 'a "quoted"', "back\\slash", "a,b", "{c}", "ünï\n\tcode 🙂"]


def one(statement, **values):
    (row,) = run(statement, values)
    return row


def test_what_goes_in_comes_out():
    id, at = uuid4(), datetime(2026, 3, 4, 5, 6, 7, 890123, tzinfo=UTC)
    row = one(
        "SELECT %(id)s::uuid AS id, %(at)s::timestamptz AS at, %(yes)s::boolean AS yes,"
        " %(big)s::bigint AS big, %(part)s::float8 AS part, %(text)s::text AS text,"
        " %(raw)s::bytea AS raw, %(nothing)s::int AS nothing",
        id=id,
        at=at,
        yes=True,
        big=-(2**62),
        part=1e-7,
        text=ODD[-1],
        raw=b"\\\0\xff",
        nothing=None,
    )
    assert tuple(row) == (id, at, True, -(2**62), 1e-7, ODD[-1], b"\\\0\xff", None)
    assert row.at.utcoffset() == timedelta(0)


def test_lists_keep_what_would_end_an_element():
    assert one("SELECT %(odd)s::text[] AS odd", odd=ODD).odd == ODD
    ids = [uuid4(), None, UUID(int=0)]
    assert one("SELECT %(ids)s::uuid[] AS ids", ids=ids).ids == ids
    raw = [b"", b"\\x", b'"\0"']
    assert one("SELECT %(raw)s::bytea[] AS raw", raw=raw).raw == raw
    assert one("SELECT %(none)s::text[] AS none", none=[]).none == []


NUL_TEXTS = ["\0", "a\0b", "a\0", "\0b", "ü" * 1000 + "\0"]
HALVES = ["\ud83d", "a\udc00b", "\ude00\ud83d"]


@pytest.mark.parametrize("text", NUL_TEXTS, ids=ascii)
@pytest.mark.parametrize("pooler", ["", "transaction"])
def test_no_text_is_cut_at_a_nul(text, pooler, settings):
    """It ends a value for libpq; psycopg's cursors refuse it by the same words."""
    settings.DATABASE_POOLER = pooler
    with connection.cursor() as cursor, pytest.raises(DataError) as theirs:
        cursor.execute("SELECT %s::text", [text])
    for type, value in (
        ("text", text),
        ("text[]", [text]),
        ("text[]", ["a", None, text, "b"]),
        ("jsonb", f'"{text}"'),
        ("jsonb[]", [f'"{text}"']),
    ):
        with pytest.raises(DataError) as ours:
            run(f"SELECT %(value)s::{type} AS value", {"value": value})
        assert str(ours.value) == str(theirs.value)
    # Nothing was sent, so nothing went wrong in this transaction.
    assert one("SELECT %(text)s::text AS text", text="a").text == "a"


@pytest.mark.parametrize("text", HALVES, ids=ascii)
def test_half_of_a_surrogate_pair_is_no_text(text):
    for type, value in (("text", text), ("text[]", ["a", text])):
        with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
            run(f"SELECT %(value)s::{type} AS value", {"value": value})
    assert one("SELECT %(text)s::text AS text", text="a").text == "a"


def test_json_comes_as_its_text():
    row = one("SELECT %(data)s::jsonb AS data, NULL::jsonb AS none", data='{"a": "é"}')
    assert bytes(row.data) == '{"a": "é"}'.encode()
    assert row.none is None


def test_errors_are_djangos_and_say_what_it_was():
    with pytest.raises(ProgrammingError) as missing, transaction.atomic():
        run("SELECT 1 FROM nowhere", {})
    assert missing.value.__cause__.sqlstate == "42P01"
    with pytest.raises(DataError) as wrong, transaction.atomic():
        run("SELECT %(id)s::uuid AS id", {"id": "no id"})
    assert wrong.value.__cause__.sqlstate == "22P02"
    assert one("SELECT 1 AS one").one == 1


@pytest.mark.django_db(transaction=True)
def test_what_cannot_even_be_prepared_says_so():
    with pytest.raises(NotSupportedError, match="not allowed with UNION"):
        run("SELECT id FROM boards_card UNION SELECT NULL FOR UPDATE", {})
    assert one("SELECT 1 AS one").one == 1


@pytest.mark.django_db(transaction=True)
def test_the_first_statement_of_a_transaction_is_part_of_it():
    run("CREATE TABLE IF NOT EXISTS kept (number int)", {})
    try:
        with suppress(RolledBack), transaction.atomic():
            run("INSERT INTO kept VALUES (1)", {})
            raise RolledBack
        with transaction.atomic():
            run("INSERT INTO kept VALUES (2)", {})
        assert run("SELECT number FROM kept", {}) == [(2,)]
    finally:
        run("DROP TABLE kept", {})


@pytest.mark.django_db(transaction=True)
def test_a_session_that_was_ended_is_a_lost_connection():
    pid = one("SELECT pg_backend_pid() AS pid").pid
    # A minute at most until it's gone.
    ended = start(lambda: run(f"SELECT pg_terminate_backend({pid}, 60000) AS gone", {}))
    assert ended.result(PATIENCE) == [(True,)]
    with pytest.raises(OperationalError):
        run("SELECT 1 AS one", {})
    connection.close()
    assert one("SELECT 1 AS one").one == 1


@pytest.mark.django_db(transaction=True)
def test_a_table_that_changed_meanwhile_is_no_trouble():
    run("CREATE TABLE IF NOT EXISTS changing (a int)", {})
    try:
        run("INSERT INTO changing VALUES (1)", {})
        assert run("SELECT changing.* FROM changing", {}) == [(1,)]
        run("ALTER TABLE changing ALTER a TYPE text", {})
        assert run("SELECT changing.* FROM changing", {}) == [("1",)]
        with connection.cursor() as cursor:
            cursor.execute("DEALLOCATE ALL")
        assert run("SELECT changing.* FROM changing", {}) == [("1",)]
    finally:
        run("DROP TABLE changing", {})


def test_a_session_keeps_no_more_plans_than_it_may():
    count = "SELECT count(*) AS kept FROM pg_prepared_statements"
    for number in range(sessions.MOST_PREPARED + 20):
        assert one(f"SELECT {number} AS number").number == number
        one("SELECT 'often' AS used")
    assert one(count).kept <= sessions.MOST_PREPARED
    kept = run("SELECT statement FROM pg_prepared_statements", {})
    texts = [row.statement for row in kept]
    assert "SELECT 'often' AS used" in texts
    assert "SELECT 0 AS number" not in texts


def test_behind_a_pool_by_transactions_nothing_is_prepared(settings):
    settings.DATABASE_POOLER = "transaction"
    before = one("SELECT count(*) AS kept FROM pg_prepared_statements").kept
    assert one("SELECT %(a)s::int AS a", a=5).a == 5
    after = one("SELECT count(*) AS kept FROM pg_prepared_statements").kept
    assert after == before
