"""The models and the migrations say the same."""

from django.core.management import call_command


def test_no_migration_is_missing(db):
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)
