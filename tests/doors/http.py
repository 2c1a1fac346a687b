"""Ask the REST door as a client does, and hold every answer to the OpenAPI document."""

import json
import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.test import Client
from django.urls import Resolver404, resolve
from jsonschema import Draft202012Validator

from accounts.callers import Caller
from accounts.models import Actor
from boards.models import ClockTimestamp
from leases.models import Lease
from novum.problems import MEDIA_TYPE
from novum.rest.openapi import document
from tests.builders import A_SECOND, ALL_SCOPES, a_token

DOCUMENT = document()


@dataclass
class Http:
    """A client with one credential; `headers` go along with every call."""

    token: str = ""
    client: Client = field(
        default_factory=lambda: Client(
            raise_request_exception=False, enforce_csrf_checks=True
        )
    )
    headers: dict[str, str] = field(default_factory=dict)

    def __call__(
        self, method: str, path: str, body: Any = None, **more: Any
    ) -> HttpResponse:
        """`more`: query (a dict), raw (a body in bytes), headers."""
        headers = self.headers | more.get("headers", {})
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        raw = more.get("raw", b"" if body is None else json.dumps(body).encode())
        answer = self.client.generic(
            method,
            path,
            raw,
            "application/json",
            QUERY_STRING=urlencode(more.get("query", {})),
            headers=headers,
        )
        check_answer(method, path, answer)
        return answer

    def get(self, path: str, **query: Any) -> HttpResponse:
        return self("GET", path, query=query)

    def post(self, path: str, body: Any = None, **more: Any) -> HttpResponse:
        return self("POST", path, body, **more)

    def patch(self, path: str, body: Any = None, **more: Any) -> HttpResponse:
        return self("PATCH", path, body, **more)

    def put(self, path: str, body: Any = None, **more: Any) -> HttpResponse:
        return self("PUT", path, body, **more)

    def delete(self, path: str, **query: Any) -> HttpResponse:
        return self("DELETE", path, query=query)


def token_of(caller: Caller, scopes: Any = ALL_SCOPES, **fields: Any) -> str:
    """A fresh token of the caller, who may be a person too."""
    return a_token(Actor.objects.get(pk=caller.actor_id), scopes, **fields)[0]


def door_of(caller: Caller, scopes: Any = ALL_SCOPES) -> Http:
    return Http(token_of(caller, scopes))


def pages(door: Http, path: str, **query: Any) -> list[list[Any]]:
    """All pages of a list, to the end."""
    found, token = [], ""
    while True:
        answer = door.get(path, **query, page_token=token)
        assert answer.status_code == 200, answer.content
        page = answer.json()
        found.append(page["items"])
        token = page["next_page_token"]
        if not token:
            return found


def let_lapse(lease_id: str) -> None:
    """The lease's time has run out a second ago."""
    Lease.objects.filter(pk=lease_id).update(expires_at=ClockTimestamp() - A_SECOND)


def check_answer(method: str, path: str, answer: HttpResponse) -> None:
    """A problem is a problem, whatever it is; and what succeeds is what was promised."""
    if answer.status_code >= 400:
        check_problem(method, answer)
    elif answer.content and (schema := promised(method, path, answer.status_code)):
        assert answer.headers["Content-Type"] == "application/json"
        errors = [
            f"{error.json_path}: {error.message}"
            for error in schema.iter_errors(json.loads(answer.content))
        ]
        assert not errors, errors


def check_problem(method: str, answer: HttpResponse) -> None:
    assert answer.headers["Content-Type"] == MEDIA_TYPE, answer.content
    if answer.status_code == 401:
        assert answer.headers["WWW-Authenticate"].startswith("Bearer ")
    if answer.status_code == 405:
        assert answer.headers["Allow"]
    if answer.status_code == 429:
        check_refusal(answer)
    if method == "HEAD":
        return
    problem = json.loads(answer.content)
    assert problem["status"] == answer.status_code
    assert not list(_validator("Problem").iter_errors(problem)), problem
    assert problem["request_id"]
    if "retry_after_seconds" in problem:
        assert answer.headers["Retry-After"] == str(problem["retry_after_seconds"])


def check_refusal(answer: HttpResponse) -> None:
    """draft-ietf-httpapi-ratelimit-headers: which limit, what is left, and when to come
    back, as the document has it."""
    refusal = DOCUMENT["components"]["responses"]["TooManyRequests"]
    assert set(refusal["headers"]) <= set(answer.headers)
    name = r'"(?P<name>[a-z-]+)";'
    told = {
        header: re.fullmatch(name + rest, answer.headers[header])
        for header, rest in (
            ("RateLimit-Policy", r'q=\d+(;qu="[a-z-]+")?(;w=(?P<window>\d+))?'),
            ("RateLimit", r"r=0(;t=(?P<time>\d+))?"),
        )
    }
    policy, left = told["RateLimit-Policy"], told["RateLimit"]
    assert policy, answer.headers
    assert left, answer.headers
    assert policy["name"] == left["name"]
    assert bool(policy["window"]) == bool(left["time"])
    assert int(answer.headers["Retry-After"]) >= int(left["time"] or 1)
    if answer.content:
        assert json.loads(answer.content)["violated-policies"] == [left["name"]]


def promised(method: str, path: str, status: int) -> Draft202012Validator | None:
    """The schema of this answer in the document; None where there's no content."""
    try:
        found = resolve(path)
    except Resolver404:
        return None
    operations = getattr(found.func, "view_initkwargs", {}).get("operations", {})
    operation = operations.get(method)
    return operation and _promised(operation.name, status)


@cache
def _promised(name: str, status: int) -> Draft202012Validator | None:
    for methods in DOCUMENT["paths"].values():
        for entry in methods.values():
            if entry["operationId"] == name:
                answer = entry["responses"][str(status)]
                content = answer.get("content", {}).get("application/json")
                return _with_components(content["schema"]) if content else None
    raise AssertionError(f"{name} is not in the document")


@cache
def _validator(component: str) -> Draft202012Validator:
    return _with_components({"$ref": f"#/components/schemas/{component}"})


def _with_components(schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": DOCUMENT["components"]})
