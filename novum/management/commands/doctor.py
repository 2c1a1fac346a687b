"""`manage.py doctor`: what is wrong with this deployment, and what to do about it."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from novum.doctor.examine import examine

SIGNS = {"ok": "ok      ", "warning": "warning ", "problem": "PROBLEM "}


class Command(BaseCommand):
    help = "Examine settings, services, migrations, clocks, disk and loops."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        findings = examine()
        for one in findings:
            self.stdout.write(f"{SIGNS[one.level]} {one.area}: {one.what}")
            if one.advice:
                self.stdout.write(f"          {one.advice}")
        if any(one.level == "problem" for one in findings):
            sys.exit(1)
