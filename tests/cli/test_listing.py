"""The short list of operations is complete, small, and asked for again cheaply."""

from django.test import Client
from jsonschema import Draft202012Validator

from novum.operations.registry import OPERATIONS
from tests.doors.http import DOCUMENT

PATH = "/v1/operations.json"


def told() -> dict:
    return Client().get(PATH).json()


def test_it_is_open_to_everybody_and_has_every_operation_once(db):
    names = [one["name"] for one in told()["operations"]]
    assert names == [operation.name for operation in OPERATIONS]


def test_it_says_the_same_as_the_document(db):
    described = {
        entry["operationId"]: (method.upper(), path, entry)
        for path, methods in DOCUMENT["paths"].items()
        for method, entry in methods.items()
    }
    for one in told()["operations"]:
        method, path, entry = described[one["name"]]
        assert (one["method"], one["path"]) == (method, path)
        places = {(p["name"], p["in"]) for p in entry["parameters"]}
        for field in one["fields"]:
            if field["in"] in ("path", "query"):
                assert (field["name"], field["in"]) in places
        body = entry.get("requestBody", {}).get("content", {})
        names = body.get("application/json", {}).get("schema", {}).get("properties", {})
        assert [f["name"] for f in one["fields"] if f["in"] == "body"] == list(names)


def references(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from references(each)


def test_every_schema_is_one_and_every_reference_leads_somewhere(db):
    listing = told()
    assert set(references(listing)) <= set(listing["schemas"])
    for one in listing["operations"]:
        for field in one["fields"]:
            Draft202012Validator.check_schema(field["schema"])


def test_whoever_has_it_is_told_so_in_no_bytes(db):
    first = Client().get(PATH)
    again = Client().get(PATH, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = Client().get(PATH, headers={"If-None-Match": '"other"'})
    assert other.content == first.content
    assert len(first.content) < 150_000


def test_a_token_in_the_header_makes_no_difference(world):
    answer = Client().get(PATH, headers={"Authorization": "Bearer nonsense"})
    assert answer.status_code == 200


def test_it_tells_what_may_be_sent_twice(db):
    repeat = {one["name"]: one["repeat"] for one in told()["operations"]}
    assert repeat["claim_next_card"] == repeat["create_card"] == "key"
    assert repeat["renew_lease"] == repeat["complete_lease"] == "safe"
    assert repeat["get_card"] == repeat["set_column_contract"] == "safe"
    assert repeat["move_card"] == repeat["delete_column"] == "not"


def test_handles_are_told_apart_from_other_text(db):
    fields = {
        (one["name"], field["name"]): field["schema"]
        for one in told()["operations"]
        for field in one["fields"]
    }
    assert fields["create_card", "assignee"]["anyOf"][0]["format"] == "handle"
    assert "format" not in fields["create_card", "description"]
