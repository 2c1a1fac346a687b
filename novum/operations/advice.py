"""What to do about an error, for whoever can't ask: by its stable code.

The tools' descriptions, the tools' errors and `/v1/agents.md` say it in these words.
"""

from novum.problems import Problem

NEXT_STEPS = {
    "lease_lost": "Stop working on this card, keep nothing of it, claim the next one.",
    "output_rejected": "You still hold the card: put right what `errors` names and"
    " complete again.",
    "not_a_queue": "Take a column whose `is_queue` is true (list_columns).",
    "card_held": "Leave it to its holder, or repeat with `force: true` if it must be.",
    "cards_held": "Wait until they are done, or repeat with `force: true`.",
    "version_mismatch": "Read the card again, then repeat with its new version.",
    "invalid": "Put right what `errors` names and call again.",
    "invalid_contract": "Put right what `errors` names and call again.",
    "bad_cursor": "Begin again without a cursor.",
    "handle_taken": "Take another handle.",
    "username_taken": "Take another user name, or let them in by add_person.",
    "already_member": "There is nothing to do: they are in.",
    "last_owner": "Make somebody else an owner first.",
    "unknown_queue": "Take a name that exists: tasks.queues lists them.",
    "column_not_empty": "Say in `move_cards_to` where its cards go.",
    "not_requeueable": "Requeue only failed or done cards of a queue.",
    "conflict": "Look at `current` and read it again before you decide anew.",
    "board_archived": "Restore the board first (restore_board).",
    "not_claimable": "Look at `current`: it says which rule keeps it back and, where known, until"
    " when.",
    "not_cancellable": "Only open cards and those at work can be called off.",
    "not_a_dead_letter": "There is nothing to retry: look at the card (get_card).",
    "does_not_fit": "Repeat with a `payload` that fits, or have the queue's input_schema"
    " changed.",
    "selection_changed": "Run the dry run again and decide by its numbers.",
    "bad_file": "Mend the file, or say how to read it (encoding, delimiter, header, roles).",
    "already_imported": "Look at `current`, and repeat with `again: true` if it's meant.",
    "import_not_ready": "Look at it with get_import; a file can be imported anew.",
    "too_long_here": "Get it by REST (GET /v1/boards/{board_id}/export) or by the command"
    " novum.",
    "too_many_endpoints": "Delete an endpoint that nobody needs first.",
    "endpoint_off": "Switch the endpoint on first (edit_webhook_endpoint).",
    "seat_at_capacity": "Finish or release one of the cards that `current` names, then"
    " claim again.",
    "not_found": "Check the id: it may be gone, or not for you to see. List what there"
    " is.",
    "forbidden": "Repeating won't help: ask the people who run the board for what"
    " `current.needs` names.",
    "unauthenticated": "Ask for a valid token.",
    "rate_limited": "Wait `retry_after_seconds`, then repeat the same call.",
    "unavailable": "Wait `retry_after_seconds`, then repeat the same call; with an"
    " idempotency key it's done once.",
    "idempotency_key_reused": "Take a new key for a new request.",
    "idempotency_key_in_use": "Wait `retry_after_seconds`, then repeat with this key.",
    "internal": "Try once more later; if it stays, tell the people who run the server"
    " the `request_id`.",
}


def next_step(problem: Problem) -> str:
    """Codes come from every app; one that isn't listed is still no riddle."""
    if known := NEXT_STEPS.get(problem.code):
        return known
    if problem.retry_after_seconds is not None:
        return NEXT_STEPS["rate_limited"]
    if problem.errors:
        return NEXT_STEPS["invalid"]
    return NEXT_STEPS["conflict" if problem.status == 409 else "invalid"]
