"""The document is true and complete, and its page needs nobody else."""

import re
from importlib import import_module

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import URLPattern, get_resolver
from jsonschema import Draft202012Validator

from novum import cleaning
from novum.operations.registry import OPERATIONS
from tests.doors.http import DOCUMENT

METHODS = {"get", "post", "put", "patch", "delete"}
BESIDES = {
    f"/v1/{name}"
    for name in ("healthz", "readyz", "openapi.json", "operations.json", "docs")
}


def entries():
    for path, methods in DOCUMENT["paths"].items():
        for method, entry in methods.items():
            yield path, method, entry


def routes() -> set[tuple[str, str]]:
    """What the REST door serves under /v1, as path templates and methods. (The other
    door there, MCP, describes itself.)"""
    rest = import_module("novum.rest.urls")
    assert rest in [one.urlconf_name for one in get_resolver().url_patterns]
    found = set()
    for one in rest.urlpatterns:
        assert isinstance(one, URLPattern)
        path = "/v1/" + re.sub(r"<\w+:(\w+)>", r"{\1}", str(one.pattern))
        initial = getattr(one.callback, "view_initkwargs", None)
        for method in initial["operations"] if initial else ["GET"]:
            found.add((path, method.lower()))
    return found


def test_it_is_served_and_is_openapi_3_1(db):
    answer = Client().get("/v1/openapi.json")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json() == DOCUMENT
    assert DOCUMENT["openapi"].startswith("3.1.")
    assert DOCUMENT["info"]["title"] == "Novum"


def test_every_route_is_in_it_and_everything_in_it_is_a_route():
    documented = {(path, method) for path, method, _ in entries()}
    served = {(path, method) for path, method in routes() if path not in BESIDES}
    assert documented == served


def test_every_operation_is_in_it_by_its_own_name_once():
    names = [entry["operationId"] for _, _, entry in entries()]
    assert len(names) == len(set(names))
    assert {name for name in names if not name.endswith("_alias")} == {
        operation.name for operation in OPERATIONS
    }


def test_every_reference_leads_somewhere():
    def walk(value):
        if isinstance(value, dict):
            if "$ref" in value:
                head, name = value["$ref"].rsplit("/", 1)
                kind = head.removeprefix("#/components/")
                assert kind in ("schemas", "responses")
                assert name in DOCUMENT["components"][kind]
            for each in value.values():
                walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)

    walk(DOCUMENT)


def test_every_schema_is_json_schema_2020_12():
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    for _, _, entry in entries():
        for parameter in entry["parameters"]:
            Draft202012Validator.check_schema(parameter["schema"])
        for content in entry.get("requestBody", {}).get("content", {}).values():
            Draft202012Validator.check_schema(content["schema"])


def test_every_parameter_of_a_path_is_declared():
    for path, _, entry in entries():
        named = {one["name"] for one in entry["parameters"] if one["in"] == "path"}
        assert named == set(re.findall(r"{(\w+)}", path))
        assert all(
            one["required"] for one in entry["parameters"] if one["in"] == "path"
        )


def test_every_operation_says_what_it_is_who_may_and_how_it_fails():
    for path, method, entry in entries():
        assert method in METHODS
        assert entry["summary"].endswith("."), path
        assert re.search(r"scope `\w+`\.", entry["description"]), path
        assert "application/problem+json" in entry["responses"]["default"]["content"]
        assert "429" in entry["responses"]
        success = [one for one in entry["responses"] if one not in ("429", "default")]
        assert success
        assert all(code.startswith("2") for code in success)


def test_the_limits_of_every_input_are_told():
    text = DOCUMENT["info"]["description"]
    for limit in (cleaning.MAX_BODY_BYTES, cleaning.MAX_DEPTH, cleaning.MAX_INTEGER):
        assert str(limit) in text


def test_credentials_are_a_bearer_token():
    assert DOCUMENT["security"] == [{"bearer": []}]
    assert DOCUMENT["components"]["securitySchemes"] == {
        "bearer": {"type": "http", "scheme": "bearer"}
    }


@pytest.fixture
def page(db) -> str:
    answer = Client().get("/v1/docs")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe-inline" not in policy
    assert "unsafe-eval" not in policy
    return answer.content.decode()


def test_the_page_takes_everything_from_here(page):
    named = re.findall(r"(?:src|href|data-document)=[\"']([^\"']+)", page)
    assert named
    for address in named:
        assert address.startswith(("/static/", "/v1/", "data:,")), address


def test_what_the_page_takes_is_there(page):
    for path in re.findall(r"/static/([^\"']+)", page):
        assert finders.find(path), path
    assert 'data-document="/v1/openapi.json"' in page


def test_the_page_has_no_script_inside(page):
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert not re.search(r"\son\w+=", page)
