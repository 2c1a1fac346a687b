"""A backup of the embedded default, made while others work, and what is restored."""

import json
import os
import subprocess
import sys
import tarfile

import pytest

from novum.running import restore as restoring
from novum.running.archive import DUMP, Manifest, pack
from novum.running.backup import backup
from novum.running.children import Family
from novum.running.embedded import running_services
from novum.running.errors import StartError
from novum.running.restore import restore
from novum.running.settings import ROOT

pytestmark = pytest.mark.processes
OUTSIDE = {"DATABASE_URL", "REDIS_URL", "SECRET_KEY"}


def environment_of(data):
    own = {key: value for key, value in os.environ.items() if key not in OUTSIDE}
    return own | {
        "NOVUM_DATA": str(data),
        "DJANGO_SETTINGS_MODULE": "novum.settings",
        "NOVUM_DB_POOL": "0",
    }


def python(data, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env=environment_of(data),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.fixture
def family():
    family = Family()
    yield family
    family.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The file of a backup that was made in the middle of work, and what it's of."""
    folder = tmp_path_factory.mktemp("backup")
    data, family = folder / "data", Family()
    with running_services(family, data, redis_url="redis://127.0.0.1:1/0"):
        migrated = python(data, "django", "migrate", "--verbosity", "0")
        assert migrated.wait(300) == 0
        worker = python(data, "tests.running.programs.work")
        facts = json.loads(worker.stdout.readline())
        file = backup(environment_of(data), folder / "one.tar")
        assert worker.poll() is None
        worker.communicate("stop\n", timeout=120)
        assert worker.returncode == 0
    family.close()
    return data, file, facts


def look(data, facts, family):
    with running_services(family, data, redis_url="redis://127.0.0.1:1/0"):
        program = python(data, "tests.running.programs.look", json.dumps(facts))
        said, _ = program.communicate(timeout=120)
        assert program.returncode == 0
        return json.loads(said)


@pytest.mark.parametrize("how", ["after millions", "anew"])
def test_what_is_restored_is_sound_and_its_feed_goes_on(
    made, family, tmp_path, monkeypatch, how
):
    _, file, facts = made
    file = renumbered(file, tmp_path / "later.tar", 7_000_000)
    if how == "anew":
        monkeypatch.setattr(restoring, "HIGHEST_NUMBER", 0)
    data = tmp_path / "data"
    assert restore(environment_of(data), file) is None
    found = look(data, facts, family)
    assert found["broken"] == []
    assert found["claimed"] <= 2
    assert found["secret"] == "a secret"
    # Everything that was there, and what came after it, behind it.
    assert found["all"] == found["stored"] + 1
    assert found["last"] == "card.created"
    if how != "anew":
        # Who read before the backup goes on from there.
        assert 1 <= found["since"] < found["all"]


def renumbered(file, target, transaction):
    """As from a cluster that has done more."""
    folder = target.with_suffix(".d")
    folder.mkdir()
    with tarfile.open(file) as tar:
        tar.extractall(folder, filter="data")
    pack(target, folder / DUMP, folder, Manifest("2026-01-01", "18", transaction))
    return target


def test_data_that_is_there_is_moved_aside_only_by_force(made, family, tmp_path):
    data, file, facts = made
    with pytest.raises(StartError, match="--force"):
        restore(environment_of(data), file)
    before = sorted(path.name for path in data.iterdir())
    junk = tmp_path / "junk.tar"
    junk.write_bytes(b"junk")
    half = renumbered(file, tmp_path / "half.tar", 1)
    half.write_bytes(half.read_bytes()[: half.stat().st_size // 2])
    broken = tmp_path / "broken.tar"
    (tmp_path / DUMP).write_bytes(b"PGDMP nothing")
    pack(broken, tmp_path / DUMP, tmp_path, Manifest("2026-01-01", "18", 1))
    for bad in (junk, half, broken, tmp_path / "missing.tar"):
        with pytest.raises(StartError):
            restore(environment_of(data), bad, force=True)
    assert sorted(path.name for path in data.iterdir()) == before
    aside = restore(environment_of(data), file, force=True)
    assert (aside / "PG_VERSION").exists()
    assert look(data, facts, family)["broken"] == []


def test_it_is_its_owners_alone(made, tmp_path):
    data, file, _ = made
    assert file.stat().st_mode & 0o777 == 0o600
    other = tmp_path / "other"
    restore(environment_of(other), file)
    assert (other / "secret_key").read_text() == (data / "secret_key").read_text()
    assert (other / "secret_key").stat().st_mode & 0o777 == 0o600


def test_by_command_it_needs_no_running_novum(made, tmp_path):
    data, _, _ = made
    run = [sys.executable, "-m", "novum.running"]

    def call(*arguments, **more):
        return subprocess.run(
            [*run, *arguments],
            cwd=ROOT,
            env=environment_of(data) | more,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    done = call("backup")
    assert done.returncode == 0, done.stderr
    (file,) = (data / "backups").iterdir()
    assert str(file) in done.stdout
    done = call("restore", str(file), NOVUM_DATA=str(tmp_path / "new"))
    assert (done.returncode, done.stdout[:9]) == (0, "Restored."), done.stderr
    outside = {"DATABASE_URL": "postgres://a@b/c", "SECRET_KEY": "k" * 50}
    for arguments in (["backup"], ["restore", str(file)]):
        done = call(*arguments, **outside)
        assert done.returncode == 1
        assert "docs/deployment.md" in done.stderr


def test_the_page_on_deployments_names_the_same_statements():
    document = (ROOT / "docs" / "deployment.md").read_text()
    for statement in restoring.START_ANEW:
        assert f"\n{statement};\n" in document


def test_there_is_nothing_to_back_up_in_an_empty_folder(tmp_path):
    with pytest.raises(StartError, match="nothing"):
        backup(environment_of(tmp_path))
