"""`manage.py seed_demo`: the demo workspace, and the file that says how to get in."""

import json
import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from accounts.models import WorkerToken
from accounts.tokens import digest
from boards.models import Column
from novum import demo

FILE = "demo.json"
MODE = 0o600


class Command(BaseCommand):
    help = "Make the demo workspace unless it's there, and NOVUM_DATA/demo.json."

    def handle(self, *args: Any, **options: Any) -> None:
        """Run again it changes nothing, but for what the file must say differently: the
        address, the columns. Where the file (the only place of the secrets) is lost,
        there's a new password and a new token. No secret is printed."""
        if not demo.exists():
            demo.make()
        path = Path(settings.NOVUM_DATA) / FILE
        kept = _read(path)
        if _opens_the_demo(kept):
            password, secret = kept["password"], kept["worker_token"]
        else:
            password, secret = demo.new_credentials()
        facts = _facts(password, secret)
        if facts != kept or path.stat().st_mode & 0o777 != MODE:
            _write(path, facts)
        self.stdout.write(f"The demo's address, login and token are in {path}.")


def _facts(password: str, secret: str) -> dict[str, Any]:
    person, board = demo.person(), demo.board()
    assert person.user is not None
    columns = Column.objects.filter(board=board, archived_at=None)
    return {
        "url": settings.NOVUM_URL,
        "live_url": settings.NOVUM_LIVE_URL,
        "username": person.user.username,
        "password": password,
        "worker_token": secret,
        "workspace": demo.SLUG,
        "boards": [
            {
                "id": str(board.pk),
                "name": board.name,
                "page": f"/boards/{board.pk}",
                "columns": [
                    {"id": str(column.pk), "name": column.name}
                    for column in columns.order_by("position", "id")
                ],
            }
        ],
    }


def _read(path: Path) -> dict[str, Any]:
    """What an earlier run has written; empty when that's nothing one could use."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _opens_the_demo(kept: dict[str, Any]) -> bool:
    """Whether the file is of this very demo: its token says so. (Checking the password
    as well would cost every start a slow hash.)"""
    secret = kept.get("worker_token")
    if not isinstance(secret, str) or not isinstance(kept.get("password"), str):
        return False
    return WorkerToken.objects.filter(
        digest=digest(secret), actor=demo.drafter(), revoked_at=None
    ).exists()


def _write(path: Path, facts: dict[str, Any]) -> None:
    """At once or not at all, and never readable by others (a new temporary file is 600)."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile(
        "w", dir=path.parent, prefix=f"{FILE}.", delete=False
    ) as out:
        json.dump(facts, out, indent=2, ensure_ascii=False)
        out.write("\n")
    os.replace(out.name, path)
