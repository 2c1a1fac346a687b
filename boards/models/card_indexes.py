"""By what cards are found. Each index costs every change of a card that it holds."""

from django.db.models import Index, Q

from boards.models.conditions import DEAD, OPEN, PRESENT, READY

CARD_INDEXES = [
    Index(
        fields=["column", "priority", "position", "id"],
        name="card_order",
        condition=PRESENT,
    ),
    Index(
        fields=["assignee", "state", "priority", "position", "id"],
        name="card_assigned",
        condition=PRESENT & Q(assignee__isnull=False),
    ),
    # Claimable = one partial index in claim order over exactly the claimable
    # set: waiting, leased, finished, refused or otherwise assigned cards never
    # stand in the scanned range (measured: 0.95 of the floor against 0.25).
    Index(
        fields=["column", "priority", "position", "id"],
        name="card_claimable",
        condition=READY & Q(assignee=None, skills=[]),
    ),
    # Those that ask for skills stand apart: a thousand of them are no detour
    # for a worker who has none.
    Index(
        fields=["column", "priority", "position", "id"],
        name="card_claimable_skilled",
        condition=READY & Q(assignee=None) & ~Q(skills=[]),
    ),
    Index(
        fields=["column", "assignee", "priority", "position", "id"],
        name="card_claimable_by",
        condition=READY & Q(assignee__isnull=False),
    ),
    # Lists of tasks over many columns: what is to be done or being done in
    # claim order, what has ended latest first. Asking for the number keeps
    # them out of claims (see PRESENT).
    Index(
        fields=["column", "state", "priority", "position", "id"],
        name="card_live",
        condition=PRESENT & Q(state__in=["open", "claimed"]),
    ),
    Index(
        fields=["column", "state", "-updated_at", "-id"],
        name="card_ended",
        condition=PRESENT & Q(state__in=["done", "failed"]),
    ),
    # Dead letters of many boards, however many cards there are.
    Index(fields=["board"], name="card_dead", condition=DEAD),
    # Who says to be at it, for the pages that are open.
    Index(
        fields=["board", "doing_at"],
        name="card_doing",
        condition=Q(doing_at__isnull=False),
    ),
    Index(
        fields=["parent", "id"],
        name="card_children",
        condition=Q(parent__isnull=False),
    ),
    Index(
        fields=["column", "available_at"],
        name="card_waiting",
        condition=OPEN & Q(available_at__isnull=False),
    ),
    Index(
        fields=["column", "priority", "position", "id"],
        name="card_unjudged",
        condition=OPEN & Q(fits=None),
    ),
    # What needs somebody: what doesn't fit, and what was tried before.
    Index(
        fields=["column", "id"],
        name="card_misfit",
        condition=OPEN & Q(fits=False),
    ),
    Index(
        fields=["column", "id"],
        name="card_retried",
        condition=PRESENT & Q(state__in=["open", "claimed"], attempts__gte=2),
    ),
]
