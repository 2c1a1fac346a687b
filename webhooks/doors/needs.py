"""What needs somebody here: endpoints that were switched off by themselves."""

from accounts.callers import Caller
from supervision.needs.shapes import ENDPOINT_OFF, Need, NeedAction
from webhooks import reads
from webhooks.shapes import EndpointShape

_WHY = {
    "gone": "it answered that it is gone (410)",
    "failing": "it had failed for days",
    "owner": "its owner is no admin any more",
}


def count(caller: Caller) -> int:
    return reads.switched_off(caller)


def needs(caller: Caller) -> list[Need]:
    """For admins; `holder` is its owner."""
    return [_need(one) for one in reads.off_by_themselves(caller)]


def _need(one: EndpointShape) -> Need:
    values = {"endpoint_id": one.id, "enabled": True}
    why = _WHY.get(one.off or "", one.off)
    return Need(
        reason=ENDPOINT_OFF,
        what=f"{one.description or one.url} gets nothing any more: {why}."
        f" {one.waiting:,} deliveries wait.",
        since=one.off_at or one.created_at,
        link=f"/webhooks/{one.id}",
        holder=one.owner,
        actions=[NeedAction("edit_webhook_endpoint", "Switch on", values)],
    )
