"""What deploy/, docs/deployment.md and docs/scaling.md say is what the code does."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from django.apps import apps
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import (
    AddField,
    AlterField,
    DeleteModel,
    RemoveField,
    RenameField,
    RenameModel,
)
from django.db.models import NOT_PROVIDED, UniqueConstraint
from django.test import Client

from boards import reads
from boards.models import Event
from boards.reads import EventFilter
from tests.builders import a_world
from tests.processes.waiting import wait_until_told
from webhooks.models import Cursor

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCUMENT = (ROOT / "docs" / "deployment.md").read_text()
SCALING = (ROOT / "docs" / "scaling.md").read_text()
OURS = [
    *("accounts", "boards", "leases", "tasks_people", "supervision", "transfer"),
    "webhooks",
]
READERS = ["novum/settings.py", "webhooks/conf.py", "novum/running/settings.py"]
# compose.yaml makes DATABASE_URL of it.
NOT_NOVUMS = {"POSTGRES_PASSWORD"}
# What has to be known before the first start; the rest of a file may stay as it is.
SECRETS = {
    "SECRET_KEY": "kR7vX2mQ9tL4wZ8nB3cY6hJ1pF5sD0gA7uE2iO9xV4bN6mC8qT1wE5",
    "POSTGRES_PASSWORD": "a1b2c3d4e5",
    "DATABASE_URL": "postgres://novum:a1b2c3d4e5@postgres:5432/novum",
    "REDIS_URL": "redis://valkey:6379/0",
}
# From before the first release: its column has no default of the database's.
NOT_FOR_OLD_CODE = {("accounts", "0002_theme")}

# Their fields take more than before, so what old code writes still fits.
TAKES_MORE = {
    ("leases", "0004_steering"),
    ("leases", "0008_fewer_checks"),
    ("boards", "0010_fewer_checks"),
}


def read_by_the_code() -> set[str]:
    text = "".join((ROOT / one).read_text() for one in READERS)
    asked = (
        r"(?:env\.\w+|environment\.get|_number)\(\s*(?:environment, )?[\"']([A-Z_]+)"
    )
    return set(re.findall(asked, text))


def lines_of(path: Path) -> dict[str, str]:
    lines = path.read_text().splitlines()
    told = [line for line in lines if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in told)


def compose() -> dict:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]


def kubernetes() -> list[dict]:
    files = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    return [one for path in files for one in yaml.safe_load_all(path.read_text())]


def kept_in_kubernetes() -> dict[str, str]:
    found: dict[str, str] = {}
    for one in kubernetes():
        found |= one.get("data", {}) | one.get("stringData", {})
    return found


ENVIRONMENTS = {
    "compose": lines_of(DEPLOY / "env.example"),
    "systemd": lines_of(DEPLOY / "systemd" / "novum.env.example"),
    "kubernetes": kept_in_kubernetes(),
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_django_has_nothing_to_say_about_the_settings(name):
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **ENVIRONMENTS[name], **SECRETS},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "no issues (2 silenced)" in done.stdout + done.stderr


def test_the_way_the_code_reads_its_variables_is_known_here():
    assert {"SECRET_KEY", "NOVUM_WEB_WORKERS", "NOVUM_LEASE_TOKEN_KEYS"} <= (
        read_by_the_code()
    )
    assert len(read_by_the_code()) > 40


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_each_variable_of_the_files_is_read(name):
    assert set(ENVIRONMENTS[name]) - NOT_NOVUMS <= read_by_the_code()


def test_each_variable_of_a_container_is_read():
    ours = [one for one in compose().values() if one["image"] == "novum:local"]
    names = {name for one in ours for name in one["environment"]}
    for one in kubernetes():
        for container in _pod(one).get("containers", []):
            names |= {given["name"] for given in container.get("env", [])}
    assert "NOVUM_STATEMENT_TIMEOUT_MS" in names
    assert names <= read_by_the_code()


def test_the_document_names_what_is_read_and_nothing_else():
    named = set(re.findall(r"`((?:[A-Z]+_)*[A-Z]+)(?:=\S*)?`", DOCUMENT))
    known = read_by_the_code()
    assert known - named == set()
    assert {one for one in named if one.startswith("NOVUM_")} <= known


def _pod(document: dict) -> dict:
    return document.get("spec", {}).get("template", {}).get("spec", {})


def test_both_orchestrators_run_every_program_and_one_beat():
    assert {"migrate", "web", "live", "worker", "beat", "proxy"} <= set(compose())
    made = {
        one["metadata"]["name"]: one
        for one in kubernetes()
        if one["kind"] == "Deployment"
    }
    assert set(made) == {"web", "live", "worker", "beat", "proxy"}
    assert made["beat"]["spec"]["replicas"] == 1
    assert made["beat"]["spec"]["strategy"] == {"type": "Recreate"}


def test_the_programs_are_the_ones_that_make_up_runs():
    written = (ROOT / "novum" / "running" / "processes.py").read_text()
    units = {one.stem: one.read_text() for one in DEPLOY.glob("systemd/*.service")}
    for name, module, target in (
        ("web", "granian", "novum.wsgi:application"),
        ("live", "daphne", "novum.asgi:application"),
        ("worker@", "celery", "novum.celery"),
    ):
        assert f'"{module}"' in written
        assert f'"{target}"' in written
        assert f"-m {module}" in units[f"novum-{name}"]
        assert target in units[f"novum-{name}"]


def test_the_image_holds_every_app_and_nothing_that_is_only_here():
    copied = re.findall(
        r"^COPY (?!--)(.+) \S+$", (DEPLOY / "Dockerfile").read_text(), re.M
    )
    names = {name for line in copied for name in line.split()}
    assert {*OURS, "novum", "templates", "static", "manage.py"} <= names
    assert all((ROOT / name).exists() for name in names)
    assert "." not in names


def test_no_service_is_called_novum():
    """Kubernetes would set NOVUM_PORT, to something that is no number."""
    names = [
        one["metadata"]["name"] for one in kubernetes() if one["kind"] == "Service"
    ]
    assert sorted(names) == ["live", "proxy", "web"]


def test_the_proxys_files_are_where_the_orchestrators_look():
    mounted = [one.split(":")[0] for one in compose()["proxy"]["volumes"]]
    assert all((DEPLOY / one).is_file() for one in mounted if one.endswith(".conf"))
    kustomization = yaml.safe_load((DEPLOY / "kustomization.yaml").read_text())
    (made,) = kustomization["configMapGenerator"]
    files = [*made["files"], *kustomization["resources"]]
    assert all((DEPLOY / one).is_file() for one in files)


def test_new_columns_may_be_left_out_by_old_code():
    gone = (RemoveField, RenameField, DeleteModel, RenameModel)
    found = set()
    for (app, name), migration in MigrationLoader(None).disk_migrations.items():
        if app not in OURS or migration.initial:
            continue
        for step in migration.operations:
            assert not isinstance(step, gone), (app, name, step)
            if isinstance(step, AddField) and not _may_be_left_out(step.field):
                found.add((app, name))
            if isinstance(step, AlterField):
                assert (app, name) in TAKES_MORE, step
    assert found == NOT_FOR_OLD_CODE


def _may_be_left_out(field) -> bool:
    return field.null or field.db_default is not NOT_PROVIDED


@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_the_statements_after_a_restored_dump_bring_the_feed_back():
    world = a_world()
    card = world.add()
    Cursor.objects.create(
        workspace_id=world.owner.workspace_id, event_id=Event.objects.first().pk
    )
    # As if another cluster, that has done more, had written them.
    Event.objects.update(transaction=2**60)
    assert _seen(world, card) == []
    (statements,) = re.findall(r"```sql\n(BEGIN;.*?COMMIT;)\n```", DOCUMENT, re.S)
    with connection.cursor() as cursor:
        cursor.execute(statements)
    wait_until_told()
    assert _seen(world, card) == ["card.created"]
    world.ask()
    wait_until_told()
    assert _seen(world, card) == ["card.created", "card.lease.claimed"]


def _seen(world, card) -> list[str]:
    page = reads.events(world.owner, EventFilter(card_id=card), after="", limit=50)
    return [one.type for one in page.items]


def test_every_table_with_a_transactions_number_is_in_those_statements():
    written = {
        (model._meta.db_table, field.column)
        for model in apps.get_models()
        for field in model._meta.get_fields()
        if getattr(field, "column", None) in {"transaction", "since"}
    }
    told = set(re.findall(r"UPDATE (\w+) SET (\w+) =", DOCUMENT))
    assert told == written


def citus_rows() -> list[str]:
    rows = []
    for model in apps.get_models():
        meta = model._meta
        if meta.app_label not in OURS:
            continue
        has = any(field.name == "workspace" for field in meta.fields)
        without = ["primary key"] if "workspace" not in _primary_key(meta) else []
        without += [
            f"`{f.name}`" for f in meta.fields if f.unique and not f.primary_key
        ]
        without += [f"`{c.name}`" for c in meta.constraints if _lacks_workspace(c)]
        told = ", ".join(without) or "-"
        rows.append(f"| `{meta.db_table}` | {'yes' if has else 'no'} | {told} |")
    return rows


def _primary_key(meta) -> list[str]:
    return [field.name for field in meta.pk_fields]


def _lacks_workspace(constraint) -> bool:
    if not isinstance(constraint, UniqueConstraint):
        return False
    said = [*constraint.fields, *map(str, constraint.expressions)]
    return not {"workspace", "F(workspace)"} & set(said)


def test_the_list_for_citus_is_what_the_models_say():
    (table,) = re.findall(r"\| unique without it \|\n\|[-|]+\|\n((?:\|.*\n)+)", SCALING)
    assert table.splitlines() == citus_rows(), "\n".join(citus_rows())


def test_pages_by_http_are_sent_to_https_and_health_checks_are_not(db, settings):
    settings.SECURE_SSL_REDIRECT = True
    client = Client()
    assert client.get("/sign-in")["Location"] == "https://testserver/sign-in"
    assert client.get("/v1/healthz").status_code == 200
    assert client.get("/v1/readyz?for=calls").status_code == 200


def test_pages_may_open_sockets_where_live_is_behind_a_path():
    code = "from novum import settings; print(settings.SECURE_CSP['connect-src'][1])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **ENVIRONMENTS["compose"], **SECRETS},
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    )
    assert done.stdout.strip() == "wss://novum.example.com"
