"""The admin's pages of endpoints and deliveries: to look at. Nothing sealed is shown."""

from django.contrib import admin

from accounts.admin_bases import ReadOnlyAdmin
from webhooks.models import Delivery, Endpoint


@admin.register(Endpoint)
class EndpointAdmin(ReadOnlyAdmin):
    list_display = (
        *("url", "description", "workspace", "owner", "enabled", "off"),
        *("failing_since", "created_at"),
    )
    list_filter = ("enabled", "off", "format")
    list_select_related = ("workspace", "owner")
    search_fields = ("url", "description", "workspace__slug", "owner__handle__exact")
    ordering = ("-created_at",)
    fields = (
        *("url", "description", "workspace", "owner", "types", "boards", "format"),
        *("header_names", "enabled", "off", "off_at", "failing_since", "created_at"),
    )


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    """Sending again is on the endpoint's own page."""

    list_display = (
        *("type", "endpoint", "state", "attempts", "status", "problem", "due_at"),
        "created_at",
    )
    list_filter = ("state",)
    list_select_related = ("endpoint",)
    search_fields = ("endpoint__url", "type__exact")
    search_help_text = "Part of an endpoint's URL, or a type."
    ordering = ("-event_id",)
    show_full_result_count = False
    fields = (
        *("endpoint", "event_id", "type", "card_id", "sequence", "state"),
        *("attempts", "status", "problem", "due_at", "created_at", "ended_at"),
    )
