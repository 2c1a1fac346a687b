"""From events to the bodies that are sent, many at once with a fixed number of queries.

Everything is inline, so that a receiver needs no call of its own; what would make a
body larger than 20 KB is cut, named in `cut`, and found by `links`.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec
from django.conf import settings

from accounts.models import Actor, Workspace
from accounts.shapes import ActorRef, actor_ref
from boards import reads as board_reads
from boards import shapes as board_shapes
from boards.models import Board, Card, Column, Comment, Event
from leases.models import Contract
from webhooks import conf
from webhooks.shapes import (
    Message,
    MessageBoard,
    MessageColumn,
    MessageComment,
    MessageData,
    MessageLease,
    MessageWorkspace,
)

log = logging.getLogger(__name__)
KEPT_CHARACTERS = 500
# Longest possible first, so that little is lost.
_TEXTS = (
    *("card.description", "comment.text", "lease.reason", "lease.note"),
    "details.error",
)
_VALUES = (
    *("card.payload", "card.output", "card.properties", "card.misfit"),
    *("details", "details.result"),
)
# As long as one of them can be cut, the details are not cut as a whole.
_OF_DETAILS = {"details.error", "details.result"}
_COLUMNS = ("from_column_id", "to_column_id")


@dataclass(frozen=True)
class _Known:
    """All that the events of one workspace are about."""

    workspace: Workspace
    boards: dict[UUID, MessageBoard]
    columns: dict[UUID, MessageColumn]
    cards: dict[UUID, Card]
    comments: dict[UUID, Comment]
    actors: dict[UUID, ActorRef | None]
    by_handle: dict[str, ActorRef | None]


def bodies(workspace_id: UUID, events: Sequence[Event]) -> dict[UUID, str]:
    """The text of a Standard Webhooks body for each event (all of one workspace)."""
    known = _known(workspace_id, events)
    return {event.pk: _body_of(event, known) for event in events}


def _body_of(event: Event, known: _Known) -> str:
    """One event that we can't make sense of must not keep back all behind it."""
    try:
        return body(_message(event, known))
    except Exception:
        log.exception("Event %s is told without its details", event.pk)
        empty = msgspec.structs.replace(
            _data(event, known, {}), card=None, cut=["card", "details", "lease"]
        )
        return body(Message(event.type, event.created_at, empty))


def body(message: Message) -> str:
    text = msgspec.json.encode(message)
    if len(text) > conf.MAX_BODY_BYTES:
        text = _cut(msgspec.json.decode(text))
    return text.decode()


def as_cloudevent(event_id: str, text: str) -> bytes:
    """The same as a CloudEvent 1.0 in structured mode."""
    message = msgspec.json.decode(text.encode(), type=_Parts)
    sequence = msgspec.json.decode(message.data, type=_Sequence).sequence
    event = {
        "specversion": "1.0",
        "id": event_id,
        "source": settings.NOVUM_URL,
        "type": message.type,
        "time": message.timestamp,
        "datacontenttype": "application/json",
        "data": message.data,
    }
    if sequence is not None:
        event["sequence"] = str(sequence)
    return msgspec.json.encode(event)


class _Parts(msgspec.Struct):
    type: str
    timestamp: str
    data: msgspec.Raw


class _Sequence(msgspec.Struct):
    sequence: int | None = None


def _known(workspace_id: UUID, events: Sequence[Event]) -> _Known:
    column_ids = {
        found
        for one in events
        for found in (one.column_id, *(_uuid(one.data.get(name)) for name in _COLUMNS))
        if found
    }
    cards = board_reads.with_people(
        Card.objects.filter(pk__in={one.card_id for one in events if one.card_id})
    )
    actors = _actors(workspace_id, events)
    comments = {_uuid(one.data.get("comment_id")) for one in events} - {None}
    return _Known(
        workspace=Workspace.objects.get(pk=workspace_id),
        boards=_boards(one.board_id for one in events),
        columns=_columns(column_ids),
        cards={row.pk: row for row in cards},
        comments=Comment.objects.in_bulk(comments) if comments else {},
        actors={row.pk: actor_ref(row) for row in actors},
        by_handle={row.handle: actor_ref(row) for row in actors},
    )


def _actors(workspace_id: UUID, events: Iterable[Event]) -> list[Actor]:
    ids, handles = set(), set()
    for one in events:
        if one.actor_id:
            ids.add(one.actor_id)
        handles.add((one.data.get("lease") or {}).get("holder"))
    rows = Actor.objects.in_workspace(workspace_id)
    found = {row.pk: row for row in rows.filter(pk__in=ids)}
    missing = handles - {None} - {row.handle for row in found.values()}
    return [*found.values(), *(rows.filter(handle__in=missing) if missing else ())]


def _boards(ids: Iterable[UUID | None]) -> dict[UUID, MessageBoard]:
    rows = Board.objects.filter(pk__in={one for one in ids if one})
    return {pk: MessageBoard(pk, name) for pk, name in rows.values_list("pk", "name")}


def _columns(ids: set[UUID]) -> dict[UUID, MessageColumn]:
    queues = dict(
        Contract.objects.filter(pk__in=ids, enabled=True).values_list("pk", "queue")
    )
    rows = Column.objects.filter(pk__in=ids).values_list("pk", "name")
    return {pk: MessageColumn(pk, name, queues.get(pk)) for pk, name in rows}


def _message(event: Event, known: _Known) -> Message:
    return Message(event.type, event.created_at, _data(event, known, event.data))


def _data(event: Event, known: _Known, given: dict[str, Any]) -> MessageData:
    details = dict(given)
    lease = details.pop("lease", None)
    ends = [details.pop(name, None) for name in _COLUMNS]
    came, went = (known.columns.get(_uuid(one)) for one in ends)
    comment = known.comments.get(_uuid(details.pop("comment_id", None)))
    card = known.cards.get(event.card_id) if event.card_id else None
    return MessageData(
        sequence=event.sequence,
        workspace=MessageWorkspace(
            known.workspace.pk, known.workspace.key, known.workspace.name
        ),
        board=known.boards.get(event.board_id) if event.board_id else None,
        column=known.columns.get(event.column_id) if event.column_id else None,
        from_column=came,
        to_column=went,
        card=board_shapes.full_card(card, known.workspace.key) if card else None,
        lease=_lease(lease, known) if lease else None,
        comment=MessageComment(comment.pk, comment.text) if comment else None,
        actor=known.actors.get(event.actor_id) if event.actor_id else None,
        details=details,
        cut=[],
        links=_links(event),
    )


def _uuid(text: Any) -> Any:
    try:
        return UUID(text) if text else None
    except (ValueError, TypeError, AttributeError):
        return None


def _lease(data: dict[str, Any], known: _Known) -> MessageLease:
    given: dict[str, Any] = {
        name: data.get(name) for name in MessageLease.__struct_fields__
    }
    given["holder"] = known.by_handle.get(data.get("holder", ""))
    given["outcome"] = given["outcome"] or None
    return MessageLease(**given)


def _links(event: Event) -> dict[str, str]:
    base = settings.NOVUM_URL.rstrip("/")
    links = {}
    if event.board_id:
        links["board"] = f"{base}/boards/{event.board_id}"
    if event.card_id:
        links["card"] = f"{base}/v1/cards/{event.card_id}"
        links["page"] = f"{base}/boards/{event.board_id}/cards/{event.card_id}"
    if event.lease_id:
        links["lease"] = f"{base}/v1/leases/{event.lease_id}"
    return links


def _cut(message: dict[str, Any]) -> bytes:
    """Shorten the largest of what may be cut until it's small enough."""
    data = message["data"]
    left = {name for name in (*_TEXTS, *_VALUES) if _size(data, name) > KEPT_CHARACTERS}
    while True:
        text = msgspec.json.encode(message)
        if len(text) <= conf.MAX_BODY_BYTES or not left:
            return text
        one_by_one = left - {"details"} if left & _OF_DETAILS else left
        name = max(sorted(one_by_one), key=lambda one: _size(data, one))
        left.remove(name)
        _shorten(data, name)
        data["cut"].append(name)


def _size(data: dict[str, Any], name: str) -> int:
    return len(msgspec.json.encode(_at(data, name)))


def _at(data: dict[str, Any], name: str) -> Any:
    value: Any = data
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _shorten(data: dict[str, Any], name: str) -> None:
    *path, last = name.split(".")
    inside = data
    for part in path:
        inside = inside[part]
    if name in _TEXTS:
        inside[last] = inside[last][:KEPT_CHARACTERS] + "…"
    else:
        inside[last] = {} if name == "details" else None
