"""An endpoint was switched off: its owner gets a message, where there are messages."""

from typing import Any

from django.apps import apps
from django.conf import settings

from accounts.callers import Caller
from accounts.credentials import caller_of_actor
from webhooks.verbs.switch_off import owner_of

TOPIC = "webhooks"
TYPE = "webhook.switched_off"


def tell_owner(sender: Any, endpoint_id: Any, **_: Any) -> None:
    if not apps.is_installed("tasks_people"):
        return
    from tasks_people.verbs.messages import send

    endpoint = owner_of(endpoint_id)
    owner: Caller = caller_of_actor(endpoint.owner)
    send(
        owner,
        to=owner.handle,
        topic=TOPIC,
        type=TYPE,
        correlation_id=str(endpoint.pk),
        payload={
            "endpoint_id": str(endpoint.pk),
            "name": endpoint.description or endpoint.url,
            "reason": endpoint.off,
            "link": f"{settings.NOVUM_URL.rstrip('/')}/webhooks/{endpoint.pk}",
        },
    )
