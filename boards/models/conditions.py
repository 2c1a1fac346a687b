"""What cards there are, told by their states."""

from django.db.models import Q

# Where a card of a queue may be offered, and where at once (see `Card`).
OPEN = Q(state="open", archived_at=None)
# What a column shows. The number is always above 0: asking for it lets pages use the
# index `card_order`, and keeps the planner from ever taking that one for a claim.
PRESENT = Q(archived_at=None, number__gt=0)
READY = OPEN & Q(available_at=None, fits=True)
# Dead letters: failed for good and still there. What was called off isn't one.
DEAD = PRESENT & Q(state="failed", cancelled_at=None)
