"""What the admin's pages have in common.

Nothing is ever deleted here: history needs it. What has rules is only looked at, or is
changed by the verb that has them.
"""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.paginator import Paginator
from django.db.models import JSONField, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.functional import cached_property

from accounts.callers import Caller
from accounts.credentials import caller_of_user
from accounts.errors import DomainError, Invalid
from accounts.models import User
from accounts.moments import first_id_ago

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    ModelForm = forms.ModelForm[Any]
    AnyPaginator = Paginator[Any]
else:
    ModelAdmin, ModelForm, AnyPaginator = admin.ModelAdmin, forms.ModelForm, Paginator

Rows = QuerySet[Any]
# Nobody sees them, so nobody filters by them either, guessing bit by bit.
SECRETS = ("digest", "nonce", "password")


class KeptAdmin(ModelAdmin):
    """Rows that stay."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        if any(part in SECRETS for part in lookup.split("__")):
            return False
        return super().lookup_allowed(lookup, value, request)


class ReadOnlyAdmin(KeptAdmin):
    """To look at only."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ActingAdmin(KeptAdmin):
    """With actions that are a verb for each of the selected rows."""

    def act(
        self,
        request: HttpRequest,
        rows: Rows,
        verb: Callable[[Caller, Any], object],
        done: str,
    ) -> None:
        """Says how many are done, and of the others why not."""
        number = 0
        for row in rows:
            try:
                verb(caller_in(request, row.workspace_id), row)
            except DomainError as error:
                self.message_user(request, f"{row}: {error.detail}", messages.WARNING)
            else:
                number += 1
        if number:
            self.message_user(request, f"{number} {done}.", messages.SUCCESS)


class ServerAdmin(KeptAdmin):
    """Rows of no workspace: whoever runs the server changes them, superusers. Others
    with the permission look at them."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser and super().has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_superuser and super().has_change_permission(request, obj)


class VerbForm(ModelForm):
    """Shows why the verb has refused the same input a moment ago."""

    refusal: DomainError | None = None

    def clean(self) -> Any:
        cleaned = super().clean()
        if self.refusal is not None:
            _explain(self, self.refusal)
        return cleaned


class StorableJSON(json.JSONDecoder):
    """What PostgreSQL stores as jsonb, and a page can show again."""

    _NUL = re.compile(r"(?<!\\)(\\\\)*\\u0000")

    def decode(self, s: str, *args: Any) -> Any:
        try:
            value = super().decode(s, *args)
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
            text.encode()
        except (ValueError, RecursionError) as error:
            raise json.JSONDecodeError(str(error), s, 0) from error
        if self._NUL.search(text):
            raise json.JSONDecodeError("a NUL character", s, 0)
        return value


class VerbAdmin(KeptAdmin):
    """Rows that a verb changes: as the signed-in person in the row's workspace, with
    the rules, events and refusals of every other door."""

    form = VerbForm
    formfield_overrides = {
        JSONField: {
            "decoder": StorableJSON,
            "error_messages": {
                "invalid": "Enter JSON, without NaN, NUL characters or half surrogates."
            },
        }
    }

    def check_may_change(self, request: HttpRequest, obj: Any) -> None:
        """Raises DomainError for who may only look at this row."""
        raise NotImplementedError

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if not super().has_change_permission(request, obj):
            return False
        return obj is None or not is_refused(
            lambda: self.check_may_change(request, obj)
        )

    def save_model(
        self, request: HttpRequest, obj: Any, form: Any, change: bool
    ) -> None:
        """Calls the verb, and reads the row again. Django's would write it itself."""
        raise NotImplementedError

    def changeform_view(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """A refused change (all of which is undone by then) shows its form again."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except DomainError as error:
            request.META["novum.refusal"] = error
        return super().changeform_view(request, *args, **kwargs)

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, *args, **kwargs)
        form.refusal = request.META.get("novum.refusal")
        return form


def caller_in(request: HttpRequest, workspace_id: UUID) -> Caller:
    """Raises Unauthenticated for who isn't a member of that workspace."""
    assert isinstance(request.user, User)
    return caller_of_user(request.user, workspace_id)


def is_refused(verb: Callable[[], object]) -> bool:
    try:
        verb()
    except DomainError:
        return True
    return False


def _explain(form: ModelForm, refusal: DomainError) -> None:
    errors = refusal.errors if isinstance(refusal, Invalid) else []
    for error in errors:
        field = error.pointer.split("/")[1].removesuffix("_id")
        form.add_error(field if field in form.fields else None, error.detail)
    if not errors:
        form.add_error(None, refusal.detail)


class BoundedPaginator(AnyPaginator):
    """Counts up to `MOST` rows and no further: nobody turns more pages, and a count of
    millions would be most of the page's time."""

    MOST = 10_000

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        found: int = rows[: self.MOST].count()
        return found


class Since(admin.SimpleListFilter):
    """When it was made, by the time in the primary key."""

    title = "age"
    parameter_name = "since"
    AGES = {
        "hour": ("Past hour", timedelta(hours=1)),
        "day": ("Past day", timedelta(days=1)),
        "week": ("Past 7 days", timedelta(days=7)),
        "month": ("Past 30 days", timedelta(days=30)),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, label) for name, (label, _) in self.AGES.items()]

    def queryset(self, request: HttpRequest, queryset: Rows) -> Rows:
        age = self.AGES.get(self.value() or "")
        return queryset.filter(pk__gte=first_id_ago(age[1])) if age else queryset


class Big(ModelAdmin):
    """A table with millions of rows: newest first, by its primary key, and no page
    that has to look at all of them."""

    ordering = ("-pk",)
    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    sortable_by = ()
    list_per_page = 50
