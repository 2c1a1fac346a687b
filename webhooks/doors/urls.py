"""The pages' addresses, and the entry in every page's top bar."""

from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _

from accounts.callers import Caller
from novum.parts import Entry
from webhooks import reads
from webhooks.doors import pages

_endpoint = "webhooks/<uuid:endpoint_id>"
_delivery = "webhooks/deliveries/<uuid:delivery_id>"

urlpatterns: list[URLPattern] = [
    path("webhooks", pages.endpoints, name="webhooks"),
    path(_delivery, pages.delivery, name="webhook-delivery"),
    path(f"{_delivery}/resend", pages.resend, name="webhook-resend"),
    path(_endpoint, pages.endpoint, name="webhook"),
    path(f"{_endpoint}/switch", pages.switch, name="webhook-switch"),
    path(f"{_endpoint}/delete", pages.delete, name="webhook-delete"),
    path(f"{_endpoint}/rotate", pages.rotate, name="webhook-rotate"),
    path(f"{_endpoint}/test", pages.test, name="webhook-test"),
    path(
        f"{_endpoint}/resend-failed", pages.resend_failed, name="webhook-resend-failed"
    ),
]


def entries(caller: Caller) -> list[Entry]:
    """For admins; with how many endpoints were switched off by themselves, which is
    how their owners hear of it."""
    if not caller.is_admin():
        return []
    alarm = reads.switched_off(caller)
    return [Entry("webhooks", "webhooks", _("Webhooks"), "zap", alarm)]
