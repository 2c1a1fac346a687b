"""Whatever goes wrong is an RFC 9457 problem: Django's own errors under /v1 as well.

`tests.doors.http` looks at the shape of every answer; here is what each one says.
"""

import pytest
from django.db import OperationalError
from django.test import Client
from psycopg import errors as postgres

from novum.cleaning import MAX_BODY_BYTES
from novum.operations import me
from novum.problems import MEDIA_TYPE
from tests.doors.http import Http

GONE = "01900000-0000-7000-8000-000000000000"


def fails_with(monkeypatch, error):
    def get_workspace(*arguments, **named):
        raise error

    monkeypatch.setattr(me.reads, "workspace", get_workspace)


@pytest.mark.parametrize(
    "header",
    [None, "Bearer", "Bearer ", "Bearer nvma_x", "Basic YTpi", "bearer é", "x" * 9_000],
)
def test_without_a_token_in_force_nobody_gets_in(db, header):
    headers = {} if header is None else {"Authorization": header}
    answer = Http()("GET", "/v1/me", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize(
    "path",
    [
        f"/v1/boards/{GONE}",
        f"/v1/cards/{GONE}",
        f"/v1/leases/{GONE}",
        f"/v1/agents/{GONE}",
        f"/v1/boards/{GONE}/leases",
        f"/v1/cards/{GONE}/comments",
        "/v1/cards/not-an-id",
        "/v1/nothing",
        "/v1/",
        "/v1/boards/",
        "/v1/cards/%00",
        "/v1/cards/%ff%fe",
        f"/v1/boards/{GONE}:explode",
    ],
)
def test_what_is_not_there_is_a_404(owner, path):
    answer = owner.get(path)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_method_that_a_path_does_not_take_is_a_405_naming_those_it_does(owner):
    answer = owner.delete("/v1/boards")
    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(", ")) >= {"GET", "POST", "OPTIONS"}
    assert owner("TRACE", "/v1/boards").status_code == 405
    assert owner("HEAD", "/v1/cards:bulk-create").status_code == 405


def test_options_tells_what_there_is_without_doing_it(owner):
    answer = owner("OPTIONS", "/v1/boards")
    assert answer.status_code == 204
    assert set(answer.headers["Allow"].split(", ")) >= {"GET", "HEAD", "POST"}


def test_head_is_get_without_the_body(owner, world):
    path = f"/v1/cards/{world.add()}"
    head, get = owner("HEAD", path), owner.get(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["ETag"] == get.headers["ETag"]
    assert owner("HEAD", f"/v1/cards/{GONE}").status_code == 404


@pytest.mark.parametrize(
    ("raw", "status", "code"),
    [
        (b"{", 400, "malformed_json"),
        (b"\xff", 400, "not_utf8"),
        (b"{} x", 400, "malformed_json"),
        (b'{"title": NaN}', 422, "number_out_of_range"),
        (b'{"title": 1, "title": 2}', 400, "repeated_key"),
        (b"[]", 422, "invalid"),
        (b'"text"', 422, "invalid"),
        (b"null", 422, "invalid"),
        (b'"' + b"x" * MAX_BODY_BYTES + b'"', 413, "too_large"),
        (b'"' + b"x" * 5 * MAX_BODY_BYTES + b'"', 413, "too_large"),
    ],
)
def test_a_body_that_cannot_be_taken_says_why(owner, raw, status, code):
    answer = owner("POST", "/v1/cards", raw=raw)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_body_of_the_full_size_is_taken(owner, world):
    start = (
        f'{{"board_id": "{world.board}", "column_id": "{world.queue}", "title": "Big",'
        ' "payload": "'
    )
    raw = start.encode() + b"x" * (MAX_BODY_BYTES - len(start) - 2) + b'"}'
    assert len(raw) == MAX_BODY_BYTES
    assert owner("POST", "/v1/cards", raw=raw).status_code == 201


def test_input_that_does_not_fit_names_the_field(owner, world):
    answer = owner.post("/v1/cards", {"board_id": str(world.board), "title": "x"})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    (error,) = answer.json()["errors"]
    assert (error["pointer"], error["code"]) == ("/column_id", "required")


def test_a_fault_of_ours_leaks_nothing(owner, monkeypatch, caplog):
    fails_with(monkeypatch, RuntimeError("SELECT secret_column FROM passwords"))
    answer = owner.get("/v1/me")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert b"secret_column" not in answer.content
    assert b"RuntimeError" not in answer.content
    assert answer.json()["request_id"] in caplog.text
    assert "secret_column" in caplog.text


@pytest.mark.parametrize(
    ("cause", "outcome"),
    [
        (postgres.QueryCanceled(), "Nothing was changed"),
        (postgres.LockNotAvailable(), "Nothing was changed"),
        (postgres.DeadlockDetected(), "Nothing was changed"),
        (postgres.TooManyConnections(), "Nothing was changed"),
        (postgres.AdminShutdown(), "done or not"),
        (postgres.OperationalError("server closed the connection"), "done or not"),
    ],
)
def test_a_database_that_cannot_answer_now_is_a_503_to_try_again(
    owner, monkeypatch, cause, outcome
):
    error = OperationalError("secret host 10.0.0.1")
    error.__cause__ = cause
    fails_with(monkeypatch, error)
    answer = owner.get("/v1/me")
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert outcome in answer.json()["detail"]
    assert int(answer.headers["Retry-After"]) >= 1
    assert b"10.0.0.1" not in answer.content


def test_a_host_that_is_not_ours_is_a_problem_too(db):
    answer = Http(client=Client(SERVER_NAME="evil.example")).get("/v1/me")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")


@pytest.mark.parametrize("path", ["/nothing", "/v1x", "/v2/boards"])
def test_outside_of_the_api_errors_are_pages(db, path):
    answer = Client().get(path)
    assert answer.status_code == 404
    assert answer.headers["Content-Type"] != MEDIA_TYPE


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", ""])
def test_the_content_type_does_not_change_what_json_is(owner, kind):
    """Clients that forget the header are common; the bytes decide."""
    answer = owner.client.generic(
        "POST",
        "/v1/boards",
        b'{"name": "News"}',
        kind,
        headers={"Authorization": f"Bearer {owner.token}"},
    )
    assert answer.status_code == 201


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "*/*;q=0"])
def test_whatever_is_asked_for_the_answer_is_json(owner, accept):
    assert owner("GET", "/v1/me", headers={"Accept": accept}).status_code == 200
