"""The contract as text in a form, and back."""

import json
from dataclasses import dataclass, field
from typing import Any

from accounts.errors import Invalid
from leases.contract import DEFAULT_LEASE_SECONDS, DEFAULT_MAX_ATTEMPTS
from leases.errors import InvalidContract
from leases.shapes import ContractShape
from leases.verbs.set_contract import Terms
from novum.web import durations, posted
from novum.web.pages import PageRequest

SCHEMAS = ("input_schema", "output_schema")
TEXTS = (
    "queue",
    "lease_ttl_seconds",
    "max_attempts",
    "backoff_seconds",
    "on_success_column_id",
    "on_failure_column_id",
    "concurrency_limit",
    *SCHEMAS,
)
FLAGS = ("enabled", "never_lapses")


@dataclass
class ContractForm:
    """`values` is what is shown, as typed; `errors` lie at their fields."""

    values: dict[str, Any]
    version: int
    errors: dict[str, list[str]] = field(default_factory=dict)

    @property
    def general(self) -> list[str]:
        return self.errors.get("", [])

    def complain(self, name: str, detail: str) -> None:
        self.errors.setdefault(name, []).append(detail)


def of_contract(shape: ContractShape) -> ContractForm:
    ttl = shape.lease_ttl_seconds
    values = {
        "enabled": shape.enabled,
        "never_lapses": ttl is None,
        "queue": shape.queue,
        "lease_ttl_seconds": durations.words(ttl or DEFAULT_LEASE_SECONDS),
        "max_attempts": str(shape.max_attempts),
        "backoff_seconds": ", ".join(map(durations.words, shape.backoff_seconds)),
        "on_success_column_id": str(shape.on_success_column_id or ""),
        "on_failure_column_id": str(shape.on_failure_column_id or ""),
        "concurrency_limit": str(shape.concurrency_limit or ""),
        "input_schema": _schema_text(shape.input_schema),
        "output_schema": _schema_text(shape.output_schema),
    }
    return ContractForm(values, shape.version)


def of_request(request: PageRequest) -> ContractForm:
    """As typed. Raises Invalid for text that can't be stored."""
    values: dict[str, Any] = {name: posted.text(request, name) for name in TEXTS}
    values |= {name: posted.flag(request, name) for name in FLAGS}
    try:
        version = posted.number(request, "version") or 0
    except Invalid:
        version = 0
    return ContractForm(values, version)


def terms_of(
    request: PageRequest, form: ContractForm, kept: ContractShape
) -> Terms | None:
    """None when something can't be read; `form` then says what. Whether the queue is
    paused isn't part of the form and stays."""
    read: dict[str, Any] = {"enabled": form.values["enabled"]}
    read["queue"] = form.values["queue"].strip() or None
    for name in ("max_attempts", "concurrency_limit"):
        _try(form, read, name, lambda name=name: posted.number(request, name))
    for name in ("on_success_column_id", "on_failure_column_id"):
        _try(form, read, name, lambda name=name: posted.uuid(request, name))
    for name in SCHEMAS:
        _try(form, read, name, lambda name=name: schema_of(form, name))
    _try(form, read, "lease_ttl_seconds", lambda: _ttl(form))
    _try(form, read, "backoff_seconds", lambda: steps_of(form))
    if form.errors:
        return None
    return Terms(paused=kept.paused, pause_reason=kept.pause_reason, **read)


def schema_of(form: ContractForm, name: str) -> Any:
    """Raises Invalid, naming the place."""
    text = form.values[name]
    return posted.json_value(text, name) if text.strip() else None


def steps_of(form: ContractForm) -> list[int]:
    return durations.list_of(form.values["backoff_seconds"])


def attempts_of(form: ContractForm) -> int:
    text = form.values["max_attempts"].strip()
    return int(text) if text.isdecimal() and len(text) < 5 else DEFAULT_MAX_ATTEMPTS


def note(form: ContractForm, error: InvalidContract) -> None:
    """Each at its field; within a schema with the place in it."""
    for one in error.errors:
        name, _, inside = one.pointer.strip("/").partition("/")
        is_schema = inside and name in SCHEMAS
        form.complain(name, f"/{inside}: {one.detail}" if is_schema else one.detail)


def _ttl(form: ContractForm) -> int | None:
    if form.values["never_lapses"]:
        return None
    text = form.values["lease_ttl_seconds"].strip()
    return durations.seconds_of(text) if text else DEFAULT_LEASE_SECONDS


def _try(form: ContractForm, read: dict[str, Any], name: str, call: Any) -> None:
    try:
        read[name] = call()
    except Invalid as error:
        form.complain(name, error.detail)
    except ValueError as error:
        form.complain(name, str(error))


def _schema_text(schema: Any) -> str:
    if schema is None:
        return ""
    return json.dumps(schema, indent=2, ensure_ascii=False)
