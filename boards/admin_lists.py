"""What the long lists of the admin have: cards found by key, filters that cost little."""

import re
from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest

from accounts.admin_bases import Big, Rows
from boards.models import Card
from boards.shapes import card_key

_KEY = re.compile(r"([A-Za-z0-9]{1,8})-([0-9]{1,18})")


class FoundByKey(Big):
    """Search understands a card's key, NOV-12, beside the `search_fields`."""

    card_path = "card__"
    search_help_text = "A card's key (NOV-12), or an id as it's shown here."

    def get_search_results(
        self, request: HttpRequest, queryset: Rows, search_term: str
    ) -> tuple[Rows, bool]:
        key = _KEY.fullmatch(search_term.strip())
        if key is None:
            return super().get_search_results(request, queryset, search_term)
        cards = Card.objects.filter(workspace__key__iexact=key[1], number=int(key[2]))
        return queryset.filter(self.of_cards(cards)), False

    def of_cards(self, cards: Rows) -> Q:
        return Q(card__in=cards)


def key_of(card: Card) -> str:
    return card_key(card.workspace.key, card.number)


class Priority(admin.SimpleListFilter):
    """The five there are; Django would look through all cards for them."""

    title = "priority"
    parameter_name = "priority"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(number, number) for number in "12345"]

    def queryset(self, request: HttpRequest, queryset: Rows) -> Rows:
        number = self.value()
        return (
            queryset.filter(priority=number) if number in tuple("12345") else queryset
        )


class Kind(admin.SimpleListFilter):
    """By the beginning of an event's type."""

    title = "type"
    parameter_name = "kind"
    KINDS = ("board", "column", "column.contract", "card", "card.lease")

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind, f"{kind}.…") for kind in self.KINDS]

    def queryset(self, request: HttpRequest, queryset: Rows) -> Rows:
        kind = self.value()
        return queryset.filter(type__startswith=f"{kind}.") if kind else queryset
