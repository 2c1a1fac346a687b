"""Statements over libpq: what goes in comes out, and what goes wrong has its class."""

from uuid import uuid4

import pytest
from django.db import DataError, OperationalError, connection, transaction

from leases.statements.running import run
from tests.connections import start

pytestmark = pytest.mark.django_db

AWKWARD = ["", " ", '"', "\\", "{", "}", ",", "NULL", "a b", "é", "\\x00", '","', "\n"]


def one(statement, **parameters):
    (row,) = run(statement, parameters)
    return row


def elsewhere(statement, **parameters):
    """On a second connection."""
    return start(lambda: run(statement, parameters)).result(30)


def test_texts_of_an_array_come_back_as_they_were():
    assert one("SELECT %(texts)s::text[] AS found", texts=AWKWARD).found == AWKWARD


def test_each_kind_of_value_finds_its_type():
    given = uuid4()
    row = one(
        "SELECT %(id)s::uuid AS id, %(ids)s::uuid[] AS ids, %(raw)s::bytea[] AS raw,"
        " %(on)s::boolean AS on, %(count)s::bigint AS count, %(part)s::float8 AS part,"
        " %(none)s::text AS none, %(nones)s::text[] AS nones, %(empty)s::int[] AS empty",
        id=given,
        ids=[given],
        raw=[b"\x00\xff\\"],
        on=False,
        count=-(2**63),
        part=0.1,
        none=None,
        nones=[None, "NULL"],
        empty=[],
    )
    assert row.id == given
    assert row.ids == [given]
    assert row.raw == [b"\x00\xff\\"]
    assert (row.on, row.count, row.part, row.none) == (False, -(2**63), 0.1, None)
    assert row.nones == [None, "NULL"]
    assert row.empty == []


@pytest.mark.parametrize("value", ["a\0b", ["a\0b"]])
def test_a_zero_byte_is_refused_and_not_cut_off(value):
    with pytest.raises(DataError):
        run("SELECT %(value)s::text AS value", {"value": value})


def test_a_statement_is_prepared_once_for_all_values():
    for number in range(3):
        assert (
            one("SELECT %(number)s::int + 40 AS sum", number=number).sum == 40 + number
        )
    found = one(
        "SELECT count(*) AS times, sum(generic_plans) AS planned FROM"
        " pg_prepared_statements WHERE statement = %(text)s",
        text="SELECT $1::int + 40 AS sum",
    )
    assert (found.times, found.planned) == (1, 3)


@pytest.mark.django_db(transaction=True)
def test_outside_of_a_transaction_it_is_one_of_its_own():
    run("CREATE TABLE kept AS SELECT %(id)s::int AS id", {"id": 7})
    try:
        (row,) = elsewhere("SELECT id FROM kept")
        assert row.id == 7
    finally:
        run("DROP TABLE kept", {})


@pytest.mark.django_db(transaction=True)
def test_inside_of_one_it_is_undone_with_it():
    with transaction.atomic():
        run("CREATE TABLE undone AS SELECT %(id)s::int AS id", {"id": 7})
        transaction.set_rollback(True)
    assert one("SELECT to_regclass('undone') IS NULL AS gone").gone


def test_an_error_has_djangos_class_and_postgresqls_code():
    with pytest.raises(DataError) as raised:
        run("SELECT 1 / %(zero)s::int AS never", {"zero": 0})
    assert raised.value.__cause__.sqlstate == "22012"


@pytest.mark.django_db(transaction=True)
def test_a_session_that_was_ended_says_so_and_is_not_used_again():
    pid = one("SELECT pg_backend_pid() AS pid").pid
    elsewhere("SELECT pg_terminate_backend(%(pid)s::int) AS ended", pid=pid)
    with pytest.raises(OperationalError):
        run("SELECT 1 AS one", {})
    connection.close_if_unusable_or_obsolete()
    assert one("SELECT 1 AS one").one == 1
