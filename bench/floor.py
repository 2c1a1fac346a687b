"""The floor: the fastest claim and complete that this PostgreSQL can do just now.

Two statements of pgbench, on tables of their own beside the product's. What a machine
is busy with otherwise slows the floor and the product alike, so their ratio holds.
"""

import os
import re
import subprocess
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from novum.running.cluster import programs

CLIENTS = 8
# Without any, the planner sees an empty table, and a statement prepared then reads all of
# it each time, however long it has become.
ENDED_LEASES = 20_000
_HERE = Path(__file__).parent
_FILL = """
INSERT INTO card (queue, place, title, payload) SELECT 1, g, 'Card ' || g,
  jsonb_build_object('url', 'https://example.com/' || g, 'note', repeat('x', 160))
FROM generate_series(1, {cards}) g
"""
_HISTORY = """
INSERT INTO lease (card_id, queue, attempt, state, expires_at, ended_at)
SELECT g, 1, 1, 1, now(), now() FROM generate_series(1, {leases}) g
"""


class Floor:
    """Made once in a database; `measure` as often as needed."""

    def __init__(self, database_url: str, cards: int) -> None:
        found = conninfo_to_dict(database_url)
        self._environment = {
            **os.environ,
            "PGHOST": str(found["host"]),
            "PGPORT": str(found["port"]),
            "PGUSER": str(found["user"]),
            "PGDATABASE": str(found["dbname"]),
            "PGOPTIONS": "-c search_path=floor",
        }
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute((_HERE / "floor_schema.sql").read_bytes())
            connection.execute(_FILL.format(cards=cards).encode())
            connection.execute(_HISTORY.format(leases=ENDED_LEASES).encode())
            connection.execute("VACUUM ANALYZE card, lease")

    def measure(self, seconds: int) -> float:
        """Cycles a second."""
        done = subprocess.run(
            [
                *(programs() / "pgbench", "--no-vacuum", "--protocol=prepared"),
                *("--client", str(CLIENTS), "--jobs", "1", "--time", str(seconds)),
                *("--file", _HERE / "floor_cycle.sql"),
            ],
            capture_output=True,
            text=True,
            env=self._environment,
            check=True,
        )
        found = re.search(r"tps = ([\d.]+)", done.stdout)
        assert found, done.stdout
        return float(found[1])
