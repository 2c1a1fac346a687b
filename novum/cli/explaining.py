"""`novum help`, and `novum help <operation>`."""

import json
import textwrap
from typing import Any

from novum.cli.catalog import Catalog, Field, Operation
from novum.cli.values import variants

INTRODUCTION = """\
novum <operation> key=value key:=json key=@file …   do it; the answer is JSON
novum help [<operation>]                            what there is, what it takes
novum login [URL] / novum logout                    keep address and token / forget them
novum watch queue=NAME                              follow a queue
novum work queue=NAME -- COMMAND …                  run a command for each task
novum doctor                                        what is wrong with the server
novum completion bash|zsh|fish                      for your shell's start-up file

Values    key=text, turned into what the field takes (a,b for a list);
          key:=json; key=@file and key:=@file (- is standard input); key=@@text for
          a text that begins with @. A handle (assignee=@ann) is never a file.
Options   -q, --query a.b.0.c   print only that (* for all of a list)
          --raw                 as the server sent it, errors too
          --url URL, --timeout SECONDS, --key IDEMPOTENCY_KEY
Settings  NOVUM_URL, NOVUM_TOKEN, or what `novum login` kept
Exit      0 done, 1 -q found nothing, 2 usage, 3 not allowed, 4 not found, 5 conflict,
          6 invalid, 7 server, 8 no answer"""
WIDTH = 88


def overview(catalog: Catalog) -> str:
    lines, group = [INTRODUCTION, "", "Operations"], None
    found = catalog.operations()
    longest = max(len(one.name) for one in found) + 2
    for one in found:
        if one.group != group:
            group = one.group
            lines.append("")
        lines.append(f"  {one.name:<{longest}}{one.summary}")
    return "\n".join(lines)


def explanation(catalog: Catalog, name: str) -> str:
    one = catalog.operation(name)
    lines = [one.summary, "", *_wrapped(usage(one), "  ", "      ")]
    if one.description:
        text = " ".join(one.description.split())
        lines += ["", *_wrapped(text, "", "")]
    if one.fields:
        lines += ["", "Fields"]
        for field in sorted(one.fields, key=lambda field: not field.required):
            lines += _field(catalog, field)
    lines += ["", one.who, f"{one.method} {one.path}"]
    return "\n".join(lines)


def usage(one: Operation) -> str:
    needed = [_example(field) for field in one.fields if field.required]
    more = "" if all(field.required for field in one.fields) else "[key=value …]"
    return " ".join(part for part in ["novum", one.name, *needed, more] if part)


def _example(field: Field) -> str:
    kind = kind_of(field.schema)
    join = ":=" if kind in ("object", "list of objects", "any JSON") else "="
    return f"{field.name}{join}{field.name.upper()}"


def _field(catalog: Catalog, field: Field) -> list[str]:
    facts = [kind_of(field.schema)]
    if field.required:
        facts.append("needed")
    elif field.schema.get("default") not in (None, "", [], {}):
        facts.append(f"default {json.dumps(field.schema['default'])}")
    lines = [f"  {field.name}  {', '.join(facts)}"]
    told = [one.get("description") for one in (field.schema, *variants(field.schema))]
    if text := next(filter(None, told), ""):
        lines += _wrapped(str(text), "      ", "      ")
    return lines + _members(catalog, field.schema)


def _members(catalog: Catalog, schema: dict[str, Any]) -> list[str]:
    """The members of the objects that a field takes, one level deep."""
    lines = []
    for one in variants(schema):
        reference = one.get("$ref") or one.get("items", {}).get("$ref")
        if reference:
            shape = catalog.schema(reference)
            needed = shape.get("required", [])
            for name, member in shape.get("properties", {}).items():
                star = ", needed" if name in needed else ""
                lines.append(f"      .{name}  {kind_of(member)}{star}")
    return lines


def kind_of(schema: dict[str, Any]) -> str:
    """A field's type for a person: `1 to 5`, `open|done`, `list of texts`, …"""
    found = [one for one in variants(schema) if one.get("type") != "null"]
    text = " or ".join(_kind(one) for one in found)
    return text + (" or null" if len(found) < len(variants(schema)) else "")


def _kind(one: dict[str, Any]) -> str:
    kind = str(one.get("type", "any JSON"))
    if "enum" in one:
        return "|".join(map(str, one["enum"]))
    if "$ref" in one:
        return "object"
    if kind == "array":
        items = one.get("items", {})
        inner = _kind({k: v for k, v in items.items() if k != "maxLength"})
        return (
            f"list of {inner}s" if inner in ("text", "object") else f"list of {inner}"
        )
    if kind in ("integer", "number"):
        return _number(kind, one)
    if kind == "string":
        return _text(one)
    return {"boolean": "true|false"}.get(kind, kind)


def _text(one: dict[str, Any]) -> str:
    formats = {"uuid": "id", "date-time": "time (RFC 3339)", "handle": "@handle"}
    if one.get("format", "") in formats:
        return formats[one["format"]]
    most = one.get("maxLength")
    return f"text of up to {most:,} characters" if most else "text"


def _number(kind: str, one: dict[str, Any]) -> str:
    name = "whole number" if kind == "integer" else "number"
    if "minimum" in one and "maximum" in one:
        return f"{name} {one['minimum']} to {one['maximum']}"
    return f"{name} from {one['minimum']}" if "minimum" in one else name


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
