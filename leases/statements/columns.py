"""What statements tell of a lease. Named one by one: a statement that says `*` fails on
open connections when a migration adds a column, and would carry the output along."""

LEASE = ", ".join(
    f"l.{name}"
    for name in (
        *("id", "card_id", "board_id", "column_id", "holder_id", "state", "attempt"),
        *("seconds", "acquired_at", "expires_at", "renewals", "renewed_at", "ended_at"),
        *("outcome", "reason", "note", "next_due", "failure", "doing", "doing_at"),
        *("nonce", "cancel_requested_at", "cancel_told_at"),
    )
)
