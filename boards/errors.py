from accounts.errors import Conflict, DomainError


class CardHeld(Conflict):
    """Somebody is working on this card."""

    code = "card_held"


class BoardArchived(Conflict):
    """The board is archived. Restore it first."""

    code = "board_archived"


class ColumnNotEmpty(Conflict):
    """The column still has cards. Say where they go: `move_cards_to`."""

    code = "column_not_empty"


class VersionMismatch(DomainError):
    """The card has changed since you read it."""

    code = "version_mismatch"
