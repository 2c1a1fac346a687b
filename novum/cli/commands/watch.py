"""novum watch [queue=NAME] …: what happens from now on, line by line."""

import time
from typing import Any

from novum.cli import output
from novum.cli.errors import Failure, Refused, Unreached, Usage
from novum.cli.options import Given
from novum.cli.queues import column_of
from novum.cli.session import Session

FILTERS = {"board_id", "card_id", "types"}
WAIT_SECONDS = 25
LEAST_PAUSE_SECONDS, MOST_PAUSE_SECONDS = 0.5, 5.0
# Of a fleet's many events a second, several come in one answer.
GATHER_SECONDS = 0.2
PAGE, MOST_TITLES = 200, 1_000


def run(given: Given) -> int:
    given.allow("--json")
    session = Session(given)
    session.require_token()
    queue, words = _queue(given.words[1:])
    _, values = session.read("list_events", words)
    if not values.keys() <= FILTERS:
        raise Usage(f"novum watch takes queue, {', '.join(sorted(FILTERS))}.")
    column_id = None
    if queue:
        column = column_of(session, queue)
        values["board_id"], column_id = column["board_id"], column["column_id"]
    _follow(session, values, column_id, given.flag("--json"))
    return 0


def _queue(words: list[str]) -> tuple[str, list[str]]:
    """The queue's name, and the other words."""
    named = [word for word in words if word.startswith("queue=")]
    if len(named) > 1:
        raise Usage("queue is given twice.")
    others = [word for word in words if word not in named]
    return (named[0].partition("=")[2] if named else ""), others


def _follow(
    session: Session, values: dict[str, Any], column: str | None, as_json: bool
) -> None:
    """Until it's interrupted."""
    titles = Titles(session)
    cursor, pause = _page(session, {**values, "after": "now"})["cursor"], 0.0
    values |= {"limit": PAGE, "wait_seconds": WAIT_SECONDS}
    while True:
        time.sleep(pause)
        asked_at = time.monotonic()
        page = _page(session, {**values, "after": cursor})
        cursor = page["cursor"]
        for event in page["items"]:
            if concerns(event, column):
                text = output.compact(event) if as_json else line_of(event, titles)
                output.write(text)
        has_waited = time.monotonic() - asked_at >= LEAST_PAUSE_SECONDS
        pause = _pause(pause, page, has_waited)


def _pause(before: float, page: dict[str, Any], has_waited: bool) -> float:
    """None while the server waits for us; else longer and longer while nothing comes."""
    if page["next_page_token"] or (has_waited and not page["items"]):
        return 0.0
    if page["items"]:
        return GATHER_SECONDS
    return min(max(before * 1.25, LEAST_PAUSE_SECONDS), MOST_PAUSE_SECONDS)


def _page(session: Session, values: dict[str, Any]) -> Any:
    """A page, whatever the network does meanwhile. Raises Refused."""
    is_told = False
    while True:
        try:
            return session.call("list_events", **values)
        except Refused as error:
            if error.status < 500 and error.status != 429:
                raise
            trouble: Failure = error
        except Unreached as error:
            trouble = error
        if not is_told:
            output.say(f"{trouble.text} Trying on.")
            is_told = True
        time.sleep(MOST_PAUSE_SECONDS)


def concerns(event: dict[str, Any], column: str | None) -> bool:
    """Whether it happened in the column, or to a card that left it."""
    if column is None or event["column_id"] == column:
        return True
    data = event["data"] if isinstance(event["data"], dict) else {}
    return column in [value for value in data.values() if isinstance(value, str)]


class Titles:
    """Events name cards by their ids; people know them by key and title."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[str, str] = {}

    def of(self, card_id: str) -> str:
        if card_id not in self._known:
            if len(self._known) >= MOST_TITLES:
                self._known.clear()
            self._known[card_id] = self._ask(card_id)
        return self._known[card_id]

    def _ask(self, card_id: str) -> str:
        try:
            card = self._session.call("get_card", card_id=card_id)
        except Failure:
            return card_id
        return f"{card['key']} {card['title']}"


def line_of(event: dict[str, Any], titles: Titles) -> str:
    """`14:03:07  card.lease.claimed  NOV-12 Write it  by @drafter  attempt 1/5`"""
    # The server's time in this machine's zone: only now anybody needs a calendar.
    from datetime import datetime

    at = datetime.fromisoformat(event["at"]).astimezone().strftime("%H:%M:%S")
    what = titles.of(event["card_id"]) if event["card_id"] else ""
    who = f"by @{event['actor']['handle']}" if event["actor"] else ""
    parts = [at, f"{event['type']:<23}", what, who, *_facts(event["data"])]
    return output.one_line("  ".join(part for part in parts if part))


def _facts(data: Any) -> list[str]:
    if not isinstance(data, dict):
        return []
    lease = data.get("lease") or {}
    facts = [str(lease.get("outcome") or "").replace("_", " ")]
    if "max_attempts" in lease:
        facts.append(f"attempt {lease['attempt']}/{lease['max_attempts']}")
    facts.append(str(lease.get("reason") or data.get("reason") or ""))
    facts.append(", ".join(map(str, data.get("changed") or [])))
    return facts
