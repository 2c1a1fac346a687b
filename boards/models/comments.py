"""What people and agents remark on cards."""

from django.db import models

from accounts.ids import new_id
from accounts.models import Actor
from boards.models.cards import Card
from boards.models.functions import ClockTimestamp


class Comment(models.Model):
    """A remark on a card, by a person or an agent. Markdown."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    card = models.ForeignKey(Card, models.CASCADE, related_name="comments")
    author = models.ForeignKey(Actor, models.PROTECT, related_name="+")
    text = models.TextField()
    edited_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)

    class Meta:
        indexes = [models.Index(fields=["card", "id"], name="comment_order")]

    def __str__(self) -> str:
        return self.text[:50]
