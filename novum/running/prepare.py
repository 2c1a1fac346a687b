"""Brings the database up to date and makes the demo workspace; one process for both."""

import os
import sys

import django
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def prepare() -> None:
    """Runs `migrate` where something is to be done, then `seed_demo`."""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", interactive=False, stdout=sys.stdout)
    call_command("seed_demo", stdout=sys.stdout)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "novum.settings")
    django.setup()
    prepare()
