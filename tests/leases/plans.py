"""What PostgreSQL really did: the plans of statements as they ran, with page counts."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection
from django.db.utils import DatabaseError

# The tables that grow without end.
BIG = ("boards_card", "leases_lease", "boards_event")


@dataclass
class Node:
    """One step of a plan."""

    facts: dict[str, Any]

    @property
    def table(self) -> str:
        return str(self.facts.get("Relation Name", ""))

    @property
    def kind(self) -> str:
        return str(self.facts["Node Type"])

    @property
    def index(self) -> str:
        return str(self.facts.get("Index Name", ""))

    @property
    def pages(self) -> int:
        """Read or found in memory, by this step and those below it."""
        facts = self.facts
        return int(facts["Shared Hit Blocks"] + facts["Shared Read Blocks"])

    @property
    def rows_looked_at(self) -> float:
        facts, loops = self.facts, self.facts["Actual Loops"]
        removed = sum(
            value for name, value in facts.items() if name.startswith("Rows Removed by")
        )
        return float((facts["Actual Rows"] + removed) * loops)

    def below(self) -> Iterator["Node"]:
        yield self
        for child in self.facts.get("Plans", []):
            yield from Node(child).below()


@dataclass
class Statement:
    text: str
    top: Node

    def named(self, name: str) -> Node:
        """The part that makes one CTE."""
        wanted = f"CTE {name}"
        (node,) = [n for n in self.top.below() if n.facts.get("Subplan Name") == wanted]
        return node

    def on(self, *tables: str) -> list[Node]:
        return [node for node in self.top.below() if node.table in tables]


@contextmanager
def explained() -> Iterator[list[Statement]]:
    """The statements meanwhile, as they were run (also from a cached plan)."""
    statements: list[Statement] = []

    def take(diagnostic: Any) -> None:
        _, _, text = (diagnostic.message_primary or "").partition("plan:")
        if text:
            said = json.loads(text)
            statements.append(Statement(said["Query Text"], Node(said["Plan"])))

    raw = connection.connection
    _switch(on=True)
    raw.add_notice_handler(take)
    try:
        yield statements
    finally:
        raw.remove_notice_handler(take)
        _switch(on=False)


def _switch(*, on: bool) -> None:
    settings = {
        "log_analyze": "on",
        "log_buffers": "on",
        "log_timing": "off",
        "log_format": "json",
        "log_level": "notice",
        "log_triggers": "off",
        "log_min_duration": "0" if on else "-1",
    }
    with connection.cursor() as cursor:
        try:
            cursor.execute("LOAD 'auto_explain'")
        except DatabaseError:
            pytest.skip("this PostgreSQL doesn't let us load auto_explain")
        cursor.execute("SET client_min_messages = notice")
        for name, value in settings.items():
            cursor.execute(f"SET auto_explain.{name} = '{value}'")
