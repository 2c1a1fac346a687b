"""The receivers that people are shown: they run, verify, and tell what happened."""

import re
import subprocess
import sys
from contextlib import contextmanager

import pytest
from django.conf import settings

from leases.verbs.complete import complete
from tests.builders import receipt
from tests.running.ports import two_free_ports
from tests.webhooks.conftest import delivering, until
from webhooks.models import Delivery
from webhooks.verbs.endpoints import create_endpoint
from webhooks.verbs.resend import resend_delivery

pytestmark = pytest.mark.processes


@contextmanager
def running(command, log):
    with log.open("w") as out:
        process = subprocess.Popen(
            command, cwd=settings.BASE_DIR, stdout=out, stderr=subprocess.STDOUT
        )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def endpoint(world, port):
    url = f"http://127.0.0.1:{port}/"
    return create_endpoint(world.owner, url=url, types=["card.*"])[1]


def a_shift(world):
    world.add("Write about leases")
    complete(world.worker, **receipt(world.claim()))
    with delivering():
        until(lambda: Delivery.objects.filter(state="delivered").count() == 3)


def test_the_example_tells_each_event_once(world, tmp_path):
    port, log = two_free_ports(), tmp_path / "log"
    secret = endpoint(world, port)
    script = settings.BASE_DIR / "examples" / "receiver.py"
    command = [sys.executable, "-u", script, secret, "--port", str(port)]
    with running(command, log):
        a_shift(world)
        for row in Delivery.objects.all():
            resend_delivery(world.owner, delivery_id=row.pk)
        with delivering():
            until(lambda: not Delivery.objects.exclude(state="delivered").exists())
    lines = log.read_text().splitlines()
    assert [line.split()[0] for line in lines] == [
        "card.created",
        "card.lease.claimed",
        "card.lease.completed",
    ]
    assert "'Write about leases'" in lines[0]
    assert f"@{world.worker.handle}, attempt 1" in lines[2]


def test_the_ten_lines_of_the_readme_receive(world, tmp_path):
    text = (settings.BASE_DIR / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (code,) = [one for one in blocks if "import Webhook" in one]
    port, log = two_free_ports(), tmp_path / "log"
    secret = endpoint(world, port)
    code = code.replace("whsec_…", secret).replace("9000", str(port))
    script = tmp_path / "receiver.py"
    script.write_text(code)
    with running([sys.executable, "-u", script], log):
        a_shift(world)
    told = [line for line in log.read_text().splitlines() if line.startswith("card.")]
    assert told[-1] == "card.lease.completed Write about leases"
    assert len(told) >= 3
