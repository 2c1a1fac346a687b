"""What a scrape is told of webhooks."""

from collections.abc import Iterator

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from webhooks.lagging import state_of_delivery


def collect() -> Iterator[Metric]:
    """One statement for all workspaces."""
    found = state_of_delivery()
    yield GaugeMetricFamily(
        "novum_webhook_lag_seconds",
        "How long the longest-due delivery has been waiting to be tried.",
        found.lag_seconds,
    )
    yield GaugeMetricFamily(
        "novum_webhook_take_up_lag_seconds",
        "How old the oldest event is that wasn't taken up for delivery.",
        found.take_up_lag_seconds,
    )
    yield GaugeMetricFamily(
        "novum_webhook_pending",
        "Deliveries not received yet; at most 10000 are counted of an endpoint.",
        found.pending,
    )
    family = GaugeMetricFamily(
        "novum_webhook_endpoints", "By whether they're switched on.", labels=["state"]
    )
    family.add_metric(["on"], found.on)
    family.add_metric(["off"], found.off)
    yield family
