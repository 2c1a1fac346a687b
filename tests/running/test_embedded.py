import asyncio
import json
import os
import signal
import stat
import subprocess

import psycopg
import pytest
import redis
from channels_redis.core import RedisChannelLayer
from kombu import Connection

from novum.running.children import Family
from novum.running.embedded import SERVICES_FILE, running_services
from novum.running.errors import StartError
from novum.running.postgres import Postgres

FAST = {"shared_buffers": "16MB"}


@pytest.fixture
def family():
    family = Family()
    yield family
    family.close()


def write_row(url):
    with psycopg.connect(url) as connection:
        connection.execute("create table kept (value int)")
        connection.execute("insert into kept values (7)")


def read_row(url):
    with psycopg.connect(url) as connection:
        return connection.execute("select value from kept").fetchone()


def test_what_was_committed_is_there_after_a_restart(family, tmp_path):
    with running_services(family, tmp_path, settings=FAST) as services:
        write_row(services.database_url)
    with running_services(family, tmp_path, settings=FAST) as services:
        assert read_row(services.database_url) == (7,)


def test_what_was_committed_is_there_after_kill_9_of_the_server(family, tmp_path):
    with running_services(family, tmp_path, settings=FAST) as services:
        write_row(services.database_url)
        server = next(c for c in services.children if c.name == "PostgreSQL")
        os.killpg(server.process.pid, signal.SIGKILL)
        server.process.wait()
    assert (tmp_path / "postgres" / "postmaster.pid").exists()
    with running_services(family, tmp_path, settings=FAST) as services:
        assert read_row(services.database_url) == (7,)


def test_a_server_left_behind_on_the_folder_is_ended_first(family, tmp_path):
    with running_services(family, tmp_path, settings=FAST) as services:
        write_row(services.database_url)
    (tmp_path / "logs" / "left.log").touch()
    left = Postgres(tmp_path, tmp_path / "logs" / "left.log").child(FAST)
    left.start()
    while not left.is_ready():
        assert not left.has_ended()
    with running_services(family, tmp_path, settings=FAST) as services:
        assert left.has_ended()
        assert read_row(services.database_url) == (7,)


def test_a_stale_process_number_that_is_somebody_elses_now_is_no_hindrance(
    family, tmp_path
):
    with running_services(family, tmp_path, settings=FAST):
        pass
    owner = (tmp_path / "postgres").stat()
    stranger = subprocess.Popen(
        ["sleep", "60"],
        **({"user": owner.st_uid, "extra_groups": []} if os.geteuid() == 0 else {}),
        cwd="/",
    )
    file = tmp_path / "postgres" / "postmaster.pid"
    file.write_text(f"{stranger.pid}\n{file.parent}\n1\n5432\n\n\n\nready\n")
    os.chown(file, owner.st_uid, owner.st_gid)
    try:
        with running_services(family, tmp_path, settings=FAST) as services:
            psycopg.connect(services.database_url).close()
            assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_an_interrupted_first_start_is_begun_anew(family, tmp_path):
    half_made = tmp_path / "postgres.new"
    half_made.mkdir()
    (half_made / "PG_VERSION").write_text("18\n")
    with running_services(family, tmp_path, settings=FAST) as services:
        psycopg.connect(services.database_url).close()


def test_data_of_another_major_version_is_refused_in_a_sentence(family, tmp_path):
    with running_services(family, tmp_path, settings=FAST):
        pass
    (tmp_path / "postgres" / "PG_VERSION").write_text("17\n")
    with (
        pytest.raises(StartError, match=r"PostgreSQL 17's.*brings PostgreSQL 18"),
        running_services(family, tmp_path, settings=FAST),
    ):
        pass


def test_a_path_too_long_for_a_socket_is_no_hindrance(family, tmp_path):
    data = tmp_path / ("long " * 25)
    data.mkdir()
    with running_services(family, data, settings=FAST) as services:
        with psycopg.connect(services.database_url) as connection:
            folder = connection.execute("show unix_socket_directories").fetchone()[0]
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        assert not folder.startswith(str(tmp_path))


def test_the_data_and_the_socket_are_nobody_elses(family, tmp_path):
    with running_services(family, tmp_path, settings=FAST) as services:
        assert stat.S_IMODE((tmp_path / "postgres").stat().st_mode) == 0o700
        with psycopg.connect(services.database_url) as connection:
            assert connection.execute("show listen_addresses").fetchone() == ("",)
            assert connection.execute("show fsync").fetchone() == ("on",)
            assert connection.execute("show synchronous_commit").fetchone() == ("on",)


def test_a_file_says_where_the_services_are_while_they_run(family, tmp_path):
    file = tmp_path / SERVICES_FILE
    with running_services(family, tmp_path, settings=FAST) as services:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert json.loads(file.read_text()) == {
            "database_url": services.database_url,
            "redis_url": services.redis_url,
        }
    assert not file.exists()


def test_a_service_whose_url_is_given_is_not_started(family, tmp_path):
    urls = {"database_url": "postgresql://elsewhere/db", "redis_url": "redis://else/0"}
    with running_services(family, tmp_path, **urls) as services:
        assert services.children == ()
        assert services.public() == urls
    assert not (tmp_path / "postgres").exists()


@pytest.fixture
def redis_url(family, tmp_path):
    with running_services(family, tmp_path, database_url="postgresql://x/y") as found:
        yield found.redis_url


def test_redis_py_and_celery_read_the_address(redis_url):
    with redis.Redis.from_url(redis_url) as client:
        assert client.ping()
    with Connection(redis_url) as connection:
        queue = connection.SimpleQueue("nudges")
        queue.put({"card": 1})
        assert queue.get(timeout=5).payload == {"card": 1}
        queue.close()


def test_channels_reads_the_address_too(redis_url):
    async def there_and_back():
        layer = RedisChannelLayer(
            hosts=[{"address": redis_url, "socket_timeout": None}]
        )
        await layer.send("page", {"type": "nudge"})
        try:
            return await layer.receive("page")
        finally:
            await layer.close_pools()

    assert asyncio.run(there_and_back()) == {"type": "nudge"}


def test_without_the_password_nobody_gets_in(redis_url):
    port = int(redis_url.rsplit(":", 1)[1].split("/")[0])
    with (
        redis.Redis(port=port) as client,
        pytest.raises(redis.exceptions.AuthenticationError),
    ):
        client.ping()
