"""The `webhooks` section of the OpenAPI document: a schema and an example per type."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec

from accounts.shapes import ActorRef
from boards import events
from boards.shapes import CardShape
from webhooks.catalogue import KINDS, Kind
from webhooks.shapes import (
    Message,
    MessageBoard,
    MessageColumn,
    MessageComment,
    MessageData,
    MessageLease,
    MessageWorkspace,
)

_HEADERS = {
    "webhook-id": "The same on every try: remember it to drop repeats.",
    "webhook-timestamp": "Seconds since 1970, of this try; refuse what's older than 5 min.",
    "webhook-signature": "Standard Webhooks 1.0.0: `v1,…`, several while a secret rotates.",
}
_AT = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


def extend(document: dict[str, Any], ref_template: str) -> None:
    """Adds the section and the schemas it refers to."""
    _, components = msgspec.json.schema_components([Message], ref_template=ref_template)
    known = document["components"]["schemas"]
    twice = [
        name
        for name in components
        if known.get(name, components[name]) != components[name]
    ]
    if twice:
        raise TypeError(f"Two shapes have one name: {twice}.")
    known.update(components)
    document["webhooks"] = {
        kind.type: {"post": _entry(kind, ref_template)} for kind in KINDS
    }


def _entry(kind: Kind, ref_template: str) -> dict[str, Any]:
    data = {"$ref": ref_template.format(name="MessageData")}
    schema = {
        "type": "object",
        "properties": {
            "type": {"const": kind.type},
            "timestamp": {"type": "string", "format": "date-time"},
            "data": data,
        },
        "required": ["type", "timestamp", "data"],
    }
    return {
        "operationId": f"on_{kind.type.replace('.', '_')}",
        "tags": ["webhooks"],
        "summary": kind.summary,
        "parameters": [
            {
                "name": name,
                "in": "header",
                "required": True,
                "description": text,
                "schema": {"type": "string"},
            }
            for name, text in _HEADERS.items()
        ],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": schema, "example": example(kind)}
            },
        },
        "responses": {
            "2XX": {"description": "Received: it isn't sent again."},
            "410": {"description": "Never again: the endpoint is switched off."},
            "default": {"description": "Not received: it is tried again later."},
        },
    }


def example(kind: Kind) -> Any:
    """What a receiver gets, with made-up contents."""
    drafter = ActorRef(_id(7), "drafter", "Drafter", "agent")
    column = MessageColumn(_id(3), "Drafting", "drafting")
    done = MessageColumn(_id(4), "Review", "review")
    has_card, has_lease = "card" in kind.has, "lease" in kind.has
    moves = kind.type in (events.LEASE_COMPLETED, events.CARD_MOVED)
    comments = kind.type == events.CARD_COMMENTED
    data = MessageData(
        sequence=4 if has_card else None,
        workspace=MessageWorkspace(_id(1), "NOV", "Novum"),
        board=MessageBoard(_id(2), "Content"),
        column=column if "column" in kind.has else None,
        from_column=column if moves else None,
        to_column=done if moves else None,
        card=_card(drafter) if has_card else None,
        lease=_lease(kind, drafter) if has_lease else None,
        comment=MessageComment(_id(9), "Shorter, please.") if comments else None,
        actor=drafter,
        details=_DETAILS.get(kind.type, {}),
        cut=[],
        links={"card": f"https://novum.example/v1/cards/{_id(5)}"} if has_card else {},
    )
    return msgspec.to_builtins(Message(kind.type, _AT, data))


def _id(number: int) -> UUID:
    return UUID(int=0x019A_0000_0000_7000_8000_0000_0000_0000 + number)


_DETAILS: dict[str, dict[str, Any]] = {
    events.CARD_UPDATED: {"changed": ["description", "title"]},
    events.COLUMN_PAUSED: {
        "queue": "drafting",
        "paused": True,
        "pause_reason": "Lunch",
    },
    events.COLUMN_RESUMED: {"queue": "drafting", "paused": False, "pause_reason": ""},
    events.TASK_DONE: {
        "status": "done",
        "result": {"text": "Leases in 300 words."},
        "by": "@drafter",
        "correlation_id": str(_id(5)),
        "event_id": str(_id(8)),
    },
    "webhook.test": {"text": "It works."},
}
_ENDS = {
    events.LEASE_FAILED: ("No sources found.", "requeued"),
    events.LEASE_EXPIRED: ("lease_expired", "requeued"),
    events.LEASE_DEADLETTERED: ("No sources found.", "dead_lettered"),
    events.LEASE_RELEASED: ("", "requeued"),
    events.LEASE_REVOKED: ("Taken away by @ann.", "requeued"),
    events.LEASE_COMPLETED: ("", None),
}


def _lease(kind: Kind, holder: ActorRef) -> MessageLease:
    reason, outcome = _ENDS.get(kind.type, ("", None))
    ended = _AT if kind.type in _ENDS else None
    return MessageLease(
        id=_id(6),
        attempt=1,
        max_attempts=5,
        holder=holder,
        acquired_at=_AT,
        expires_at=_AT,
        ended_at=ended,
        reason=reason,
        note="",
        outcome=outcome,
        next_due=None,
    )


def _card(holder: ActorRef) -> CardShape:
    """Every field of a card, as it is when nobody has said anything."""
    known: dict[str, Any] = {
        "id": _id(5),
        "key": "NOV-12",
        "board_id": _id(2),
        "column_id": _id(3),
        "title": "Write about leases",
        "description": "",
        "priority": 3,
        "labels": [],
        "skills": [],
        "properties": {},
        "state": "open",
        "fits": True,
        "attempts": 1,
        "version": 4,
        "created_by": holder,
        "created_at": _AT,
        "updated_at": _AT,
    }
    for one in msgspec.structs.fields(CardShape):
        if one.name not in known:
            known[one.name] = _blank(one.type)
    return CardShape(**known)


def _blank(type: Any) -> Any:
    """The emptiest value that fits: cards get new fields now and then."""
    values: tuple[Any, ...] = (None, "", 0, [], {})
    for value in values:
        try:
            msgspec.convert(value, type)
        except msgspec.ValidationError:
            continue
        return value
    raise TypeError(f"Say what an example of {type} is.")
