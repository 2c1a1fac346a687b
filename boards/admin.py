"""The admin's pages of boards, columns, cards, comments and events.

What a form here changes goes through the same verb as everywhere else, so that no rule
is walked around and every change has its event. The rest is to look at.
"""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.postgres.forms import SimpleArrayField
from django.db.models import Q
from django.http import HttpRequest

from accounts.admin_bases import (
    ReadOnlyAdmin,
    Rows,
    Since,
    VerbAdmin,
    VerbForm,
    caller_in,
)
from accounts.roles import BoardRole
from boards import access
from boards.admin_lists import FoundByKey, Kind, Priority, key_of
from boards.models import Board, BoardMember, Card, Column, Comment, Event
from boards.verbs.boards import create_board, edit_board
from boards.verbs.cards import NewCard, create_card, edit_card
from boards.verbs.columns import create_column, edit_column

if TYPE_CHECKING:
    MemberInline = admin.TabularInline[BoardMember, Board]
else:
    MemberInline = admin.TabularInline


class Members(MemberInline):
    """To look at; they're set over REST."""

    model = BoardMember
    fields = ("actor", "role")
    extra = 0

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("actor")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Board)
class BoardAdmin(VerbAdmin):
    list_display = ("name", "workspace", "default_role", "created_at", "archived_at")
    list_filter = ("default_role", ("archived_at", admin.EmptyFieldListFilter))
    list_select_related = ("workspace",)
    search_fields = ("name", "id__exact", "workspace__slug")
    ordering = ("-pk",)
    date_hierarchy = "created_at"
    raw_id_fields = ("workspace",)
    fields = ("workspace", "name", "description", "default_role")
    inlines = (Members,)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (*self.fields, "archived_at", "created_at") if obj else self.fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("workspace", "archived_at", "created_at") if obj else ()

    def check_may_change(self, request: HttpRequest, obj: Any) -> None:
        access.require(caller_in(request, obj.workspace_id), obj.pk, BoardRole.MANAGER)

    def save_model(
        self, request: HttpRequest, obj: Any, form: Any, change: bool
    ) -> None:
        caller = caller_in(request, obj.workspace_id)
        role = BoardRole(obj.default_role) if obj.default_role else None
        texts = {"name": obj.name, "description": obj.description}
        if change:
            edit_board(caller, board_id=obj.pk, default_role=role, **texts)
        else:
            obj.pk = create_board(caller, default_role=role, **texts)
        obj.refresh_from_db()


@admin.register(Column)
class ColumnAdmin(VerbAdmin):
    list_display = (
        *("name", "board", "workspace", "is_queue", "wip_limit"),
        *("created_at", "archived_at"),
    )
    list_filter = ("is_queue", ("archived_at", admin.EmptyFieldListFilter))
    list_select_related = ("board__workspace",)
    search_fields = ("name", "id__exact", "board__name", "board__id__exact")
    ordering = ("-pk",)
    raw_id_fields = ("board",)
    fields = ("board", "name", "color", "wip_limit")
    kept = ("is_queue", "checks_input", "position", "archived_at", "created_at")

    @admin.display(ordering="board__workspace")
    def workspace(self, column: Column) -> str:
        return str(column.board.workspace)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (*self.fields, *self.kept) if obj else self.fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("board", *self.kept) if obj else ()

    def check_may_change(self, request: HttpRequest, obj: Any) -> None:
        caller = caller_in(request, obj.board.workspace_id)
        access.require(caller, obj.board_id, BoardRole.MANAGER)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        gone = obj is not None and obj.archived_at is not None
        return not gone and super().has_change_permission(request, obj)

    def save_model(
        self, request: HttpRequest, obj: Any, form: Any, change: bool
    ) -> None:
        caller = caller_in(request, obj.board.workspace_id)
        board_id, looks = obj.board_id, {"color": obj.color, "wip_limit": obj.wip_limit}
        if change:
            edit_column(
                caller, board_id=board_id, column_id=obj.pk, name=obj.name, **looks
            )
        else:
            obj.pk = create_column(caller, board_id=board_id, name=obj.name, **looks)
        obj.refresh_from_db()


class CardForm(VerbForm):
    """What `edit_card` changes; `seen` is the version the form was made from, so that
    an old page doesn't undo what others have done since."""

    # One a line: a label may have a comma in it.
    labels = SimpleArrayField(
        forms.CharField(max_length=50),
        delimiter="\n",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One a line.",
    )
    seen = forms.IntegerField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "seen" in self.fields:
            self.fields["seen"].initial = self.instance.version

    def clean_properties(self) -> dict[str, Any]:
        properties = self.cleaned_data["properties"] or {}
        if not isinstance(properties, dict):
            raise forms.ValidationError("Properties are a JSON object.")
        return properties

    def wanted(self, names: Any) -> dict[str, Any]:
        """For the verb: these fields, an assignee by handle."""
        found = {name: self.cleaned_data[name] for name in names}
        if found.get("assignee"):
            found["assignee"] = found["assignee"].handle
        return found


@admin.register(Card)
class CardAdmin(FoundByKey, VerbAdmin):
    form = CardForm
    list_display = (
        *("key", "title", "board", "column", "state", "priority"),
        *("assignee", "holder", "attempts", "updated_at"),
    )
    list_display_links = ("key", "title")
    list_filter = (
        *("state", Priority, ("fits", admin.BooleanFieldListFilter)),
        *(("archived_at", admin.EmptyFieldListFilter), Since),
    )
    list_select_related = ("workspace", "board", "column", "assignee", "holder")
    search_fields = ("title", "id__exact", "column__id__exact", "lease_id__exact")
    search_help_text = "A key (NOV-12), words of the title, or a card's or column's id."
    raw_id_fields = ("column", "assignee")
    edited = (
        *("title", "description", "priority", "labels", "assignee", "due"),
        *("properties", "payload"),
    )
    kept = (
        *("output", "state", "available_at", "fits", "misfit", "attempts", "holder"),
        *("lease_id", "number", "position", "version", "sequence", "created_by"),
        *("created_at", "updated_at", "archived_at"),
    )

    @admin.display(ordering="number")
    def key(self, card: Card) -> str:
        return key_of(card)

    def of_cards(self, cards: Rows) -> Q:
        return Q(pk__in=cards)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ((None, {"fields": ("column", *self.edited)}),)
        place = ("key", "board", "column")
        seen = ("seen",) if self.has_change_permission(request, obj) else ()
        return (
            (None, {"fields": (*place, *self.edited, *seen)}),
            (
                "What only work and moves change",
                {
                    "fields": self.kept,
                    "description": "Move, archive and requeue it on the board.",
                },
            ),
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("key", "board", "column", *self.kept) if obj else ()

    def check_may_change(self, request: HttpRequest, obj: Any) -> None:
        caller = caller_in(request, obj.workspace_id)
        access.require(caller, obj.board_id, BoardRole.EDITOR)

    def save_model(
        self, request: HttpRequest, obj: Any, form: Any, change: bool
    ) -> None:
        column = obj.column
        caller = caller_in(request, column.board.workspace_id)
        if change:
            wanted = form.wanted(set(form.changed_data) - {"seen"})
            version = form.cleaned_data["seen"]
            edit_card(caller, card_id=obj.pk, version=version, **wanted)
        else:
            card = NewCard(**form.wanted(self.edited))
            obj.pk = create_card(
                caller, board_id=column.board_id, column_id=column.pk, card=card
            )
        obj.refresh_from_db()


@admin.register(Comment)
class CommentAdmin(FoundByKey, ReadOnlyAdmin):
    list_display = ("card_key", "author", "__str__", "created_at", "edited_at")
    list_display_links = ("card_key", "__str__")
    list_filter = (Since,)
    list_select_related = ("author", "card__workspace")
    search_fields = ("text", "id__exact", "card__id__exact", "author__handle")
    search_help_text = "A card's key (NOV-12), an id, words, or the author's handle."
    fields = ("card", "author", "text", "created_at", "edited_at")

    @admin.display(description="card")
    def card_key(self, comment: Comment) -> str:
        return key_of(comment.card)


@admin.register(Event)
class EventAdmin(FoundByKey, ReadOnlyAdmin):
    list_display = (
        *("created_at", "type", "actor", "workspace"),
        *("card_id", "sequence", "lease_id"),
    )
    list_filter = (Kind, Since)
    list_select_related = ("actor", "workspace")
    search_fields = (
        *("id__exact", "card_id__exact", "lease_id__exact", "column_id__exact"),
        *("board_id__exact", "token_id__exact"),
    )
    fields = (
        *("created_at", "type", "workspace", "actor", "token_id", "board_id"),
        *("column_id", "card_id", "sequence", "lease_id", "data", "transaction"),
    )

    def of_cards(self, cards: Rows) -> Q:
        return Q(card_id__in=cards.values("pk"))
