"""What a form has sent, one value at a time and clean."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest

from accounts.errors import Invalid
from novum.cleaning.bodies import read_json
from novum.cleaning.refusal import Unclean
from novum.cleaning.values import clean


def text(request: HttpRequest, name: str) -> str:
    """With the line ends of the web made ours; "" when not sent. Raises Invalid."""
    value = request.POST.get(name, "").replace("\r\n", "\n")
    try:
        clean(value)
    except Unclean as bad:
        raise Invalid.at(f"/{name}", bad.code, bad.detail) from bad
    return value


def flag(request: HttpRequest, name: str) -> bool:
    return request.POST.get(name, "") not in ("", "0")


def number(request: HttpRequest, name: str) -> int | None:
    """None when left empty. Raises Invalid."""
    value = request.POST.get(name, "").strip()
    if not value:
        return None
    if not value.isascii() or not value.isdecimal() or len(value) > 15:
        raise Invalid.at(f"/{name}", "not_a_number", "Give a whole number.")
    return int(value)


def uuid(request: HttpRequest, name: str) -> UUID | None:
    """None when left empty. Raises Invalid."""
    value = request.POST.get(name, "").strip()
    try:
        return UUID(value) if value else None
    except ValueError as bad:
        raise Invalid.at(f"/{name}", "not_an_id", "Choose one of the list.") from bad


def json_value(text: str, name: str) -> Any:
    """The JSON value written in a field. Raises Invalid, naming the place in it."""
    try:
        return read_json(text.encode())
    except Unclean as bad:
        where = f" (at {bad.pointer})" if bad.pointer else ""
        raise Invalid.at(f"/{name}", bad.code, f"{bad.detail}{where}") from bad
