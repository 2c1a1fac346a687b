"""The admin's pages of contracts (set by the verb, as everywhere) and leases."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from accounts.admin_bases import ReadOnlyAdmin, Since, VerbAdmin, caller_in
from accounts.roles import BoardRole
from boards import access
from boards.admin_lists import FoundByKey, key_of
from leases.models import Contract, Lease
from leases.verbs.set_contract import Terms, set_contract

SAME = (
    *("enabled", "paused", "pause_reason", "queue", "lease_ttl_seconds"),
    *("max_attempts", "backoff_seconds", "concurrency_limit"),
    *("input_schema", "output_schema"),
)


@admin.register(Contract)
class ContractAdmin(VerbAdmin):
    list_display = (
        *("queue", "column", "board", "workspace", "enabled", "paused"),
        *("lease_ttl_seconds", "max_attempts", "concurrency_limit", "updated_at"),
    )
    list_filter = ("enabled", "paused")
    list_select_related = ("column__board", "workspace")
    search_fields = (
        *("queue", "column__name", "column__id__exact", "column__board__name"),
        "workspace__slug",
    )
    ordering = ("-updated_at",)
    raw_id_fields = ("column", "on_success_column", "on_failure_column")
    fields = ("column", *SAME, "on_success_column", "on_failure_column")

    @admin.display(ordering="column__board")
    def board(self, contract: Contract) -> str:
        return str(contract.column.board)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (*self.fields, "version", "updated_at") if obj else self.fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("column", "version", "updated_at") if obj else ()

    def check_may_change(self, request: HttpRequest, obj: Any) -> None:
        caller = caller_in(request, obj.workspace_id)
        access.require(caller, obj.column.board_id, BoardRole.MANAGER)

    def save_model(
        self, request: HttpRequest, obj: Any, form: Any, change: bool
    ) -> None:
        board = obj.column.board
        set_contract(
            caller_in(request, board.workspace_id),
            board_id=board.pk,
            column_id=obj.column_id,
            terms=Terms(
                **{name: getattr(obj, name) for name in SAME},
                on_success_column_id=obj.on_success_column_id,
                on_failure_column_id=obj.on_failure_column_id,
            ),
        )
        obj.refresh_from_db()


@admin.register(Lease)
class LeaseAdmin(FoundByKey, ReadOnlyAdmin):
    """The history of attempts. A lease is taken away on the board, not here."""

    list_display = (
        *("card_key", "state", "outcome", "holder", "attempt", "column"),
        *("acquired_at", "expires_at", "ended_at"),
    )
    list_filter = ("state", "outcome", Since)
    list_select_related = ("card__workspace", "holder", "column")
    search_fields = (
        *("id__exact", "card__id__exact", "column__id__exact"),
        *("board__id__exact", "holder__handle__exact"),
    )
    search_help_text = "A card's key (NOV-12), an id, or the holder's handle."
    fields = (
        *("card", "board", "column", "holder", "token", "state", "outcome", "attempt"),
        *("acquired_at", "seconds", "expires_at", "renewals", "renewed_at"),
        *("ended_at", "reason", "note", "output", "next_due", "slot"),
    )

    @admin.display(description="card")
    def card_key(self, lease: Lease) -> str:
        return key_of(lease.card)
