"""Endpoints: make, change, delete, rotate the secret, switch on and off, try out."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection, transaction
from django.utils.timezone import now

from accounts.callers import Caller
from accounts.errors import FieldError, Invalid, NotFound
from accounts.ids import new_id
from accounts.models import Workspace
from boards.models import Board, Snapshot
from webhooks import catalogue, conf
from webhooks.errors import EndpointOff, TooManyEndpoints
from webhooks.keys import seal
from webhooks.models import Cursor, Delivery, Endpoint, Message, Secret
from webhooks.payloads import body
from webhooks.sending.resolving import check_now
from webhooks.sending.targets import Refused, target_of
from webhooks.shapes import Message as MessageShape
from webhooks.shapes import MessageData, MessageWorkspace
from webhooks.signing import new_secret

MAX_HEADERS, MAX_HEADER_CHARACTERS, MAX_TYPES, MAX_BOARDS = 20, 1000, 50, 100
MAX_DESCRIPTION_CHARACTERS = 200
CHECK_SECONDS = 2.0
MAX_OVERLAP_SECONDS = 30 * 86_400
_DELETE_ATTEMPTS = """
DELETE FROM webhooks_attempt a USING webhooks_delivery d
WHERE d.endpoint_id = %s AND a.delivery_id = d.id"""
_DELETE_DELIVERIES = "DELETE FROM webhooks_delivery WHERE endpoint_id = %s"
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}\Z")
_VALUE = re.compile(r"[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?\Z")
# What we say ourselves, and what is between two ends of a connection.
_OURS = re.compile(
    r"(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|cookie"
    r"|user-agent|accept-encoding|content-.*|proxy-.*|webhook-.*)\Z",
    re.IGNORECASE,
)


@transaction.atomic
def create_endpoint(
    caller: Caller,
    *,
    url: str,
    types: Sequence[str],
    description: str = "",
    boards: Sequence[UUID] = (),
    format: str = Endpoint.Format.STANDARD,
    headers: Mapping[str, str] | None = None,
) -> tuple[UUID, str]:
    """The endpoint's id and its secret, which is told this once. Events from now on are
    sent to it. Admins. Raises Forbidden, Invalid, TooManyEndpoints."""
    caller.require_admin()
    # One at a time, so that the number holds.
    Workspace.objects.select_for_update(no_key=True).get(pk=caller.workspace_id)
    if _of(caller).count() >= conf.MAX_ENDPOINTS:
        raise TooManyEndpoints(limit=conf.MAX_ENDPOINTS)
    endpoint = Endpoint(
        workspace_id=caller.workspace_id, owner_id=caller.actor_id, format=format
    )
    _change(
        caller,
        endpoint,
        {
            "url": url,
            "types": types,
            "description": description,
            "boards": boards,
            "headers": headers or {},
        },
    )
    _take_up_from_here(caller.workspace_id)
    endpoint.save()
    secret = new_secret()
    Secret.objects.create(endpoint=endpoint, sealed=seal(secret))
    return endpoint.pk, secret


@transaction.atomic
def edit_endpoint(
    caller: Caller, *, endpoint_id: UUID, changes: Mapping[str, Any]
) -> UUID:
    """Change what is given (UNSET: left as it is). `headers` replaces them all. Whoever
    switches it on owns it from then on. Admins. Raises NotFound, Forbidden, Invalid."""
    endpoint = _locked(caller, endpoint_id)
    given = {k: v for k, v in changes.items() if v is not msgspec.UNSET}
    enabled = given.pop("enabled", endpoint.enabled)
    _change(caller, endpoint, given)
    if enabled and not endpoint.enabled:
        _take_up_from_here(caller.workspace_id)
        endpoint.since = Snapshot()
        endpoint.enabled, endpoint.off, endpoint.off_at = True, "", None
        endpoint.failing_since = None
        endpoint.owner_id = caller.actor_id
    elif endpoint.enabled and not enabled:
        endpoint.enabled, endpoint.off = False, Endpoint.Off.BY_HAND
        endpoint.off_at = now()
    endpoint.save()
    return endpoint.pk


@transaction.atomic
def delete_endpoint(caller: Caller, *, endpoint_id: UUID) -> None:
    """With its deliveries. Admins. Raises NotFound, Forbidden."""
    endpoint = _locked(caller, endpoint_id)
    # There may be a million of them: not row by row through Python.
    with connection.cursor() as cursor:
        cursor.execute(_DELETE_ATTEMPTS, [endpoint.pk])
        cursor.execute(_DELETE_DELIVERIES, [endpoint.pk])
    endpoint.delete()


@transaction.atomic
def rotate_secret(
    caller: Caller, *, endpoint_id: UUID, overlap_seconds: int | None = None
) -> str:
    """A new secret, told this once; the ones before go on signing beside it for
    `overlap_seconds` (default: a day). Admins. Raises NotFound, Forbidden, Invalid."""
    seconds = conf.OVERLAP_SECONDS if overlap_seconds is None else overlap_seconds
    if not 0 <= seconds <= MAX_OVERLAP_SECONDS:
        detail = f"From 0 to {MAX_OVERLAP_SECONDS} seconds."
        raise Invalid.at("/overlap_seconds", "out_of_range", detail)
    endpoint = _locked(caller, endpoint_id)
    moment = now()
    endpoint.secrets.filter(expires_at__lte=moment).delete()
    endpoint.secrets.filter(expires_at=None).update(
        expires_at=moment + timedelta(seconds=seconds)
    )
    secret = new_secret()
    Secret.objects.create(endpoint=endpoint, sealed=seal(secret))
    return secret


@transaction.atomic
def send_test(caller: Caller, *, endpoint_id: UUID) -> UUID:
    """Send an event of type `webhook.test`, whatever the endpoint asked for; the
    delivery's id. Admins. Raises NotFound, Forbidden, EndpointOff."""
    endpoint = _locked(caller, endpoint_id)
    if not endpoint.enabled:
        raise EndpointOff
    event_id = new_id()
    workspace = Workspace.objects.get(pk=caller.workspace_id)
    Message.objects.create(event_id=event_id, body=body(_test_message(workspace)))
    delivery = Delivery.objects.create(
        endpoint=endpoint, event_id=event_id, type=catalogue.TEST
    )
    return delivery.pk


def _test_message(workspace: Workspace) -> MessageShape:
    data = MessageData(
        sequence=None,
        workspace=MessageWorkspace(workspace.pk, workspace.key, workspace.name),
        board=None,
        column=None,
        from_column=None,
        to_column=None,
        card=None,
        lease=None,
        comment=None,
        actor=None,
        details={"text": "It works."},
        cut=[],
        links={},
    )
    return MessageShape(catalogue.TEST, now(), data)


def _of(caller: Caller) -> Any:
    return Endpoint.objects.filter(workspace_id=caller.workspace_id)


def _locked(caller: Caller, endpoint_id: UUID) -> Endpoint:
    found = (
        _of(caller).select_for_update(no_key=True, of=("self",)).filter(pk=endpoint_id)
    ).first()
    if found is None:
        raise NotFound("There is no such endpoint here.")
    caller.require_admin()
    endpoint: Endpoint = found
    return endpoint


def _take_up_from_here(workspace_id: UUID) -> None:
    """Where nobody listened, what has been is nobody's news."""
    if Endpoint.objects.filter(workspace_id=workspace_id, enabled=True).exists():
        return
    Cursor.objects.update_or_create(
        workspace_id=workspace_id,
        defaults={"transaction": Snapshot(), "event_id": UUID(int=0)},
    )


def _change(caller: Caller, endpoint: Endpoint, given: Mapping[str, Any]) -> None:
    """Raises Invalid with all that's wrong."""
    errors: list[FieldError] = []
    for name, value in given.items():
        check = _CHECKS.get(name)
        if check and (wrong := check(caller, value)):
            errors.append(FieldError(f"/{name}", *wrong))
        elif name == "headers":
            endpoint.header_names = sorted(value)
            endpoint.headers = (
                seal(msgspec.json.encode(value).decode()) if value else ""
            )
        else:
            ordered = (
                list(dict.fromkeys(value)) if name in ("types", "boards") else value
            )
            setattr(endpoint, name, ordered)
    if errors:
        raise Invalid(errors=errors)


type _Wrong = tuple[str, str] | None


def _wrong_url(caller: Caller, url: str) -> _Wrong:
    try:
        check_now(target_of(url), CHECK_SECONDS)
    except Refused as error:
        return error.code, error.detail
    return None


def _wrong_types(caller: Caller, types: Sequence[str]) -> _Wrong:
    if not 1 <= len(types) <= MAX_TYPES:
        return "invalid", f"From 1 to {MAX_TYPES} types; `*` for everything."
    unknown = [one for one in types if not catalogue.is_pattern(one)]
    if unknown:
        return "unknown_type", f"No event is called {unknown[0]!r}."
    return None


def _wrong_boards(caller: Caller, boards: Sequence[UUID]) -> _Wrong:
    if len(boards) > MAX_BOARDS:
        return "invalid", f"At most {MAX_BOARDS}; none for all of the workspace."
    here = Board.objects.filter(workspace_id=caller.workspace_id, pk__in=boards)
    if here.count() != len(set(boards)):
        return "unknown_board", "There is no such board here."
    return None


def _wrong_headers(caller: Caller, headers: Mapping[str, str]) -> _Wrong:
    if len(headers) > MAX_HEADERS:
        return "invalid", f"At most {MAX_HEADERS} headers."
    for name, value in headers.items():
        if not _TOKEN.match(name) or _OURS.match(name):
            return "invalid", f"{name[:100]!r} can't be set."
        if not _VALUE.match(value) or len(value) > MAX_HEADER_CHARACTERS:
            what = f"at most {MAX_HEADER_CHARACTERS} printable ASCII characters"
            return "invalid", f"A value has {what}."
    if len({name.lower() for name in headers}) != len(headers):
        return "invalid", "A header twice."
    return None


def _wrong_description(caller: Caller, text: str) -> _Wrong:
    if len(text) > MAX_DESCRIPTION_CHARACTERS:
        return "too_long", f"At most {MAX_DESCRIPTION_CHARACTERS} characters."
    return None


_CHECKS: dict[str, Callable[[Caller, Any], _Wrong]] = {
    "url": _wrong_url,
    "types": _wrong_types,
    "boards": _wrong_boards,
    "headers": _wrong_headers,
    "description": _wrong_description,
}
