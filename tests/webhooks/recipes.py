"""Calls of the operations on webhooks that work (see tests/doors/recipes)."""

from typing import Any
from uuid import UUID

from accounts.callers import Caller
from accounts.ids import new_id
from tests.builders import World
from webhooks.models import Delivery, Endpoint
from webhooks.verbs.endpoints import create_endpoint

# An address that is public and that nobody is asked for.
URL = "https://93.184.216.34/hook"


def an_endpoint(world: World, **fields: Any) -> UUID:
    given = {"url": URL, "types": ["*"], **fields}
    return create_endpoint(world.owner, **given)[0]


def _endpoint(world: World, by: Caller | None) -> dict[str, Any]:
    return {"endpoint_id": an_endpoint(world)}


def _delivery(world: World, by: Caller | None) -> dict[str, Any]:
    return {"delivery_id": a_failed_delivery(world).pk}


def a_failed_delivery(world: World, endpoint_id: UUID | None = None) -> Delivery:
    return Delivery.objects.create(
        endpoint=Endpoint.objects.get(pk=endpoint_id or an_endpoint(world)),
        event_id=new_id(),
        type="card.created",
        state=Delivery.State.FAILED,
        attempts=10,
        tries=10,
        due_at=None,
    )


def make_rows(world: World) -> None:
    """One more of everything that has a page in the admin."""
    endpoint = Endpoint.objects.create(
        workspace=world.workspace,
        owner_id=world.owner.actor_id,
        url=URL,
        types=["*"],
        headers="canary-sealed",
    )
    a_failed_delivery(world, endpoint.pk)


def _failed(world: World, by: Caller | None) -> dict[str, Any]:
    row = a_failed_delivery(world)
    return {"endpoint_id": row.endpoint_id, "since": "2020-01-01T00:00:00Z"}


RECIPES = {
    "list_webhook_endpoints": lambda world, by: {},
    "create_webhook_endpoint": lambda world, by: {"url": URL, "types": ["*"]},
    "get_webhook_endpoint": _endpoint,
    "edit_webhook_endpoint": lambda world, by: {
        **_endpoint(world, by),
        "description": "Changed",
    },
    "delete_webhook_endpoint": _endpoint,
    "rotate_webhook_secret": _endpoint,
    "test_webhook_endpoint": _endpoint,
    "resend_failed_webhooks": _failed,
    "list_webhook_deliveries": lambda world, by: {},
    "get_webhook_delivery": _delivery,
    "resend_webhook": _delivery,
}
