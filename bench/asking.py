"""Pages as a browser asks for them: how many statements each takes, and how long."""

from time import perf_counter

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Actor
from bench.boards import page_request
from bench.load import LoadError, Talk, drive
from bench.seeding import World
from bench.stage import Stage
from boards import access

WARM_UP_PAGES = 5


def statements(world: World, path: str) -> int:
    client = Client(headers={"Host": "127.0.0.1"})
    client.force_login(Actor.objects.get(pk=world.owner.actor_id).user)
    counts = []
    # The first one only warms what is kept between pages.
    for _ in range(2):
        access.forget()
        with CaptureQueriesContext(connection) as captured:
            answer = client.get(path)
        if answer.status_code != 200:
            raise LoadError(f"{path} answered {answer.status_code}.")
        counts.append(len(captured))
    return counts[-1]


def asked(stage: Stage, path: str, cookie: str, pages: int) -> tuple[int, list[float]]:
    """The bytes of the largest, and the seconds of each."""
    seconds: list[float] = []
    sizes: list[int] = []

    def talk() -> Talk:
        for _ in range(pages + WARM_UP_PAGES):
            began = perf_counter()
            status, body = yield page_request(path, cookie)
            seconds.append(perf_counter() - began)
            sizes.append(len(body))
            if status != 200:
                raise LoadError(f"{path} answered {status}.")

    drive(stage.address, [talk()])
    return max(sizes), seconds[WARM_UP_PAGES:]
