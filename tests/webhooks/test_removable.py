"""Without its folder and its line in INSTALLED_APPS the feature is gone, and nothing
else with it."""

import subprocess
import sys

from django.conf import settings

WITHOUT = """
import sys


class Gone:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "webhooks":
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Gone())
import django
from django.conf import settings

settings.INSTALLED_APPS.remove("webhooks")
django.setup()
from django.core.management import call_command
from django.urls import get_resolver

call_command("check")
from novum.asgi import application
from novum.celery import app
from novum.operations.registry import OPERATIONS
from novum.rest.openapi import document

app.loader.import_default_modules()
assert not [one.name for one in OPERATIONS if "webhook" in one.name]
assert "claim_next_card" in [one.name for one in OPERATIONS]
assert "webhooks" not in document()
assert not [name for name in app.conf.beat_schedule if "webhook" in name]
assert "reap" in app.conf.beat_schedule
assert not [one for one in get_resolver().reverse_dict if "webhook" in str(one)]
assert "webhooks" not in sys.modules
"""


def test_the_feature_goes_with_its_folder_and_one_line():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
