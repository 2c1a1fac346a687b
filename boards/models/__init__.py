"""Boards, columns, cards, and what happened to them."""

from boards.models.boards import Board, BoardMember, Column
from boards.models.cards import DOING_IS_FRESH, Card, CardQuerySet
from boards.models.comments import Comment
from boards.models.conditions import DEAD, OPEN, PRESENT, READY
from boards.models.events import DAILY_EVENTS, Event, EventQuerySet
from boards.models.functions import ClockTimestamp, NextPosition, Snapshot, Transaction

__all__ = [
    "DAILY_EVENTS",
    "DEAD",
    "DOING_IS_FRESH",
    "OPEN",
    "PRESENT",
    "READY",
    "Board",
    "BoardMember",
    "Card",
    "CardQuerySet",
    "ClockTimestamp",
    "Column",
    "Comment",
    "Event",
    "EventQuerySet",
    "NextPosition",
    "Snapshot",
    "Transaction",
]
