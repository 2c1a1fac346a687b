"""The document and the server against each other: what the document allows and what it
forbids, thousands of requests made of it, and every reply held to it."""

import re

import msgspec
import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from novum.operations import waiting
from novum.operations.registry import OPERATIONS
from novum.wsgi import application
from tests.connections import undone
from tests.doors.http import DOCUMENT
from tests.doors.recipes import sent

EXAMPLES = 30
BOUNDS = settings(
    max_examples=EXAMPLES,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
PROMISES = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]


@pytest.fixture(scope="module")
def document():
    """Without its credentials, which every call gets, so that what's wrong is what the
    operation takes. And as in Django's own test client, the test's transaction
    outlives the requests."""
    ends = (request_started, request_finished)
    for signal in ends:
        signal.disconnect(close_old_connections)
    # Nobody waits for news here: all the places to do so are taken.
    taken = 0
    while waiting._places.acquire(blocking=False):
        taken += 1
    text = msgspec.json.encode({**DOCUMENT, "security": []})
    loaded = schemathesis.openapi.from_dict(msgspec.json.decode(text))
    loaded.app = application
    # Refused, too: what breaks a limit by a million characters is too large as a whole,
    # and an If-Match that no card has is told before what is wrong with its fields.
    rejection = loaded.config.checks.negative_data_rejection
    rejection.expected_statuses = [*rejection.expected_statuses, "412", "413"]
    yield loaded
    waiting._places.release(taken)
    for signal in ends:
        signal.connect(close_old_connections)


def fire(document, operation, mode, world, token, promises):
    """Generated calls at what is there, each undone afterwards."""
    values = sent(operation, world, world.owner).values
    real = {name: str(values[name]) for name in re.findall(r"{(\w+)}", operation.path)}
    endpoint = document[f"/v1{operation.path}"][operation.method]

    @BOUNDS
    @given(case=endpoint.as_strategy(generation_mode=mode))
    def call(case):
        if "path" not in wrong_parts(case):
            case.path_parameters = real
        case.headers["Authorization"] = f"Bearer {token}"
        with undone():
            case.call_and_validate(checks=promises)

    call()


def wrong_parts(case) -> set[str]:
    parts = case.meta.components.items() if case.meta else ()
    return {place.value for place, part in parts if part.mode.is_negative}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_what_the_document_allows_is_answered_as_it_says(
    document, operation, world, owner
):
    mode = GenerationMode.POSITIVE
    fire(document, operation, mode, world, owner.token, PROMISES)


@pytest.mark.parametrize(
    "operation",
    [one for one in OPERATIONS if one.input.__struct_fields__],
    ids=lambda one: one.name,
)
def test_what_the_document_forbids_is_refused(document, operation, world, owner):
    promises = [*PROMISES, checks.negative_data_rejection]
    mode = GenerationMode.NEGATIVE
    fire(document, operation, mode, world, owner.token, promises)
