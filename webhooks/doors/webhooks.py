"""Webhook endpoints and their deliveries."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from accounts.callers import Caller
from accounts.pages import Page
from accounts.told import told
from novum.operations.operation import (
    Input,
    Operation,
    PageInput,
    Remembers,
)
from webhooks import reads
from webhooks.catalogue import MAX_PATTERN_CHARACTERS
from webhooks.sending.targets import MAX_URL_CHARACTERS
from webhooks.shapes import DeliveryDetail, DeliveryShape, EndpointShape
from webhooks.verbs import endpoints, resend

Format = Literal["standard", "cloudevents"]
State = Literal["pending", "delivered", "failed"]
Url = Annotated[str, told(maxLength=MAX_URL_CHARACTERS)]
Description = Annotated[str, told(maxLength=endpoints.MAX_DESCRIPTION_CHARACTERS)]
Types = Annotated[
    list[Annotated[str, told(maxLength=MAX_PATTERN_CHARACTERS)]],
    told(minItems=1, maxItems=endpoints.MAX_TYPES),
    Meta(description="Exact types, `card.lease.*` for all that begin so, or `*`."),
]
Boards = Annotated[
    list[UUID],
    told(maxItems=endpoints.MAX_BOARDS),
    Meta(description="Only events of these boards; empty: of all."),
]
Headers = Annotated[
    dict[str, Annotated[str, told(maxLength=endpoints.MAX_HEADER_CHARACTERS)]],
    told(maxProperties=endpoints.MAX_HEADERS),
    Meta(description="Sent along with every delivery; the values are never shown."),
]


class EndpointInput(Input, frozen=True):
    endpoint_id: UUID


class CreateEndpoint(Input, frozen=True):
    url: Url
    types: Types
    description: Description = ""
    boards: Boards = []
    format: Format = "standard"
    headers: Headers = {}


class EditEndpoint(EndpointInput, frozen=True):
    """What is left out stays as it is; `headers` replaces them all."""

    url: Url | msgspec.UnsetType = msgspec.UNSET
    types: Types | msgspec.UnsetType = msgspec.UNSET
    description: Description | msgspec.UnsetType = msgspec.UNSET
    boards: Boards | msgspec.UnsetType = msgspec.UNSET
    format: Format | msgspec.UnsetType = msgspec.UNSET
    headers: Headers | msgspec.UnsetType = msgspec.UNSET
    enabled: bool | msgspec.UnsetType = msgspec.UNSET


class RotateSecret(EndpointInput, frozen=True):
    overlap_seconds: Annotated[
        Annotated[int, told(minimum=0, maximum=endpoints.MAX_OVERLAP_SECONDS)] | None,
        Meta(description="How long the old secret signs as well; null: a day."),
    ] = None


class ResendFailed(EndpointInput, frozen=True):
    since: Annotated[datetime, Meta(tz=True)]


class ListDeliveries(PageInput, frozen=True):
    """`type` may be a pattern such as `card.lease.*`."""

    endpoint_id: UUID | None = None
    state: State | None = None
    type: Annotated[str, Meta(max_length=MAX_PATTERN_CHARACTERS)] = ""
    card_id: UUID | None = None


class DeliveryInput(Input, frozen=True):
    delivery_id: UUID


class NewEndpoint(msgspec.Struct, frozen=True):
    """`secret` is given here only, once: null when an Idempotency-Key repeats."""

    endpoint: EndpointShape
    secret: str | None


class Resent(msgspec.Struct, frozen=True):
    """How many are sent again; call again where it's 10,000."""

    resent: int


def list_webhook_endpoints(caller: Caller, given: PageInput) -> Page[EndpointShape]:
    return reads.endpoints(
        caller, page_size=given.page_size, page_token=given.page_token
    )


def get_webhook_endpoint(caller: Caller, given: EndpointInput) -> EndpointShape:
    return reads.endpoint(caller, endpoint_id=given.endpoint_id)


def create_webhook_endpoint(caller: Caller, given: CreateEndpoint) -> NewEndpoint:
    endpoint_id, secret = endpoints.create_endpoint(
        caller, **msgspec.structs.asdict(given)
    )
    return NewEndpoint(reads.endpoint(caller, endpoint_id=endpoint_id), secret)


def edit_webhook_endpoint(caller: Caller, given: EditEndpoint) -> EndpointShape:
    changes: dict[str, Any] = msgspec.structs.asdict(given)
    endpoint_id = changes.pop("endpoint_id")
    endpoints.edit_endpoint(caller, endpoint_id=endpoint_id, changes=changes)
    return reads.endpoint(caller, endpoint_id=endpoint_id)


def delete_webhook_endpoint(caller: Caller, given: EndpointInput) -> None:
    endpoints.delete_endpoint(caller, endpoint_id=given.endpoint_id)


def rotate_webhook_secret(caller: Caller, given: RotateSecret) -> NewEndpoint:
    secret = endpoints.rotate_secret(
        caller, endpoint_id=given.endpoint_id, overlap_seconds=given.overlap_seconds
    )
    return NewEndpoint(reads.endpoint(caller, endpoint_id=given.endpoint_id), secret)


def test_webhook_endpoint(caller: Caller, given: EndpointInput) -> DeliveryDetail:
    delivery_id = endpoints.send_test(caller, endpoint_id=given.endpoint_id)
    return reads.delivery(caller, delivery_id=delivery_id)


def resend_failed_webhooks(caller: Caller, given: ResendFailed) -> Resent:
    number = resend.resend_failed(
        caller, endpoint_id=given.endpoint_id, since=given.since
    )
    return Resent(number)


def list_webhook_deliveries(
    caller: Caller, given: ListDeliveries
) -> Page[DeliveryShape]:
    wanted = reads.DeliveryFilter(
        endpoint_id=given.endpoint_id,
        state=given.state,
        type=given.type,
        card_id=given.card_id,
    )
    return reads.deliveries(
        caller, wanted, page_size=given.page_size, page_token=given.page_token
    )


def get_webhook_delivery(caller: Caller, given: DeliveryInput) -> DeliveryDetail:
    return reads.delivery(caller, delivery_id=given.delivery_id)


def resend_webhook(caller: Caller, given: DeliveryInput) -> DeliveryDetail:
    resend.resend_delivery(caller, delivery_id=given.delivery_id)
    return reads.delivery(caller, delivery_id=given.delivery_id)


_ENDPOINTS = "/webhooks/endpoints"
_ENDPOINT = f"{_ENDPOINTS}/{{endpoint_id}}"
_DELIVERIES = "/webhooks/deliveries"
_DELIVERY = f"{_DELIVERIES}/{{delivery_id}}"

OPERATIONS = (
    Operation(
        name="list_webhook_endpoints",
        method="GET",
        path=_ENDPOINTS,
        summary="Where events are sent, with how it went in the last day.",
        input=PageInput,
        output=Page[EndpointShape],
        call=list_webhook_endpoints,
        scope="manage",
        who="admin",
        errors=("bad_cursor",),
    ),
    Operation(
        name="create_webhook_endpoint",
        method="POST",
        path=_ENDPOINTS,
        summary="Send events to a URL; the signing secret is shown this once.",
        input=CreateEndpoint,
        output=NewEndpoint,
        call=create_webhook_endpoint,
        scope="manage",
        who="admin",
        errors=("invalid", "too_many_endpoints"),
        status=201,
        remembers=Remembers(
            lambda made: [made.endpoint.id],
            lambda caller, given, ids: NewEndpoint(
                reads.endpoint(caller, endpoint_id=ids[0]), None
            ),
        ),
    ),
    Operation(
        name="get_webhook_endpoint",
        method="GET",
        path=_ENDPOINT,
        summary="One endpoint.",
        input=EndpointInput,
        output=EndpointShape,
        call=get_webhook_endpoint,
        scope="manage",
        who="admin",
    ),
    Operation(
        name="edit_webhook_endpoint",
        method="PATCH",
        path=_ENDPOINT,
        summary="Change an endpoint, switch it off or on.",
        input=EditEndpoint,
        output=EndpointShape,
        call=edit_webhook_endpoint,
        scope="manage",
        who="admin",
        errors=("invalid",),
        repeatable=False,
    ),
    Operation(
        name="delete_webhook_endpoint",
        method="DELETE",
        path=_ENDPOINT,
        summary="Forget an endpoint and its deliveries.",
        input=EndpointInput,
        output=None,
        call=delete_webhook_endpoint,
        scope="manage",
        who="admin",
        status=204,
    ),
    Operation(
        name="rotate_webhook_secret",
        method="POST",
        path=f"{_ENDPOINT}:rotate-secret",
        summary="A new signing secret; for a while the old one signs as well.",
        input=RotateSecret,
        output=NewEndpoint,
        call=rotate_webhook_secret,
        scope="manage",
        who="admin",
        errors=("invalid",),
    ),
    Operation(
        name="test_webhook_endpoint",
        method="POST",
        path=f"{_ENDPOINT}:test",
        summary="Send a test event; look at the delivery for what came of it.",
        input=EndpointInput,
        output=DeliveryDetail,
        call=test_webhook_endpoint,
        scope="manage",
        who="admin",
        errors=("endpoint_off",),
        reaches_out=True,
    ),
    Operation(
        name="resend_failed_webhooks",
        method="POST",
        path=f"{_ENDPOINT}:resend-failed",
        summary="Send everything again that was given up and happened since.",
        input=ResendFailed,
        output=Resent,
        call=resend_failed_webhooks,
        scope="manage",
        who="admin",
        errors=("endpoint_off", "invalid"),
        reaches_out=True,
    ),
    Operation(
        name="list_webhook_deliveries",
        method="GET",
        path=_DELIVERIES,
        summary="What was sent or waits to be, the latest event first.",
        input=ListDeliveries,
        output=Page[DeliveryShape],
        call=list_webhook_deliveries,
        scope="manage",
        who="admin",
        errors=("bad_cursor",),
    ),
    Operation(
        name="get_webhook_delivery",
        method="GET",
        path=_DELIVERY,
        summary="One delivery with its body and every try.",
        input=DeliveryInput,
        output=DeliveryDetail,
        call=get_webhook_delivery,
        scope="manage",
        who="admin",
    ),
    Operation(
        name="resend_webhook",
        method="POST",
        path=f"{_DELIVERY}:resend",
        summary="Send one again, now, with the same id.",
        input=DeliveryInput,
        output=DeliveryDetail,
        call=resend_webhook,
        scope="manage",
        who="admin",
        errors=("endpoint_off",),
        reaches_out=True,
    ),
)
