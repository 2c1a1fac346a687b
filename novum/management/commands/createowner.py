"""`manage.py createowner`: the first person and workspace, before anybody can reach the
page that makes them. The password is asked for, or read from a pipe: never an argument,
which other users of the machine could see."""

import sys
from getpass import getpass
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.errors import DomainError, Invalid
from accounts.verbs.people import set_up


class Command(BaseCommand):
    help = "Make the first workspace and its owner, while there is nobody at all."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workspace", required=True, help="the name of your team")
        parser.add_argument("--username", required=True, help="what they sign in with")
        parser.add_argument("--name", help="as others read it (default: the username)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            user = set_up(
                workspace=options["workspace"],
                username=options["username"],
                name=options["name"] or options["username"],
                password=_password(),
            )
        except Invalid as error:
            raise CommandError(
                " ".join(f"{one.pointer[1:]}: {one.detail}" for one in error.errors)
            ) from None
        except DomainError as error:
            raise CommandError(error.detail) from None
        self.stdout.write(f"{user.username} owns {options['workspace']}.")


def _password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password = getpass()
    if getpass("Password (again): ") != password:
        raise CommandError("The two passwords differ. Nothing was made.")
    return password
