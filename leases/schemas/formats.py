"""The values of ``format`` that are checked; any other is an annotation.

In a contract ``format`` asserts: a string that isn't in the named form is a
problem. Only forms with a cheap, linear check are here.
"""

import re
from collections.abc import Callable
from datetime import date
from ipaddress import AddressValueError, IPv4Address, IPv6Address

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
# RFC 3339: an offset is required, and second 60 is a leap second.
_TIME = re.compile(
    r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?"
    r"([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)",
    re.ASCII,
)
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_UUID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE
)
# RFC 3986, appendix A, without the inner order of the parts.
_URI_REST = r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*"
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:" + _URI_REST)
_URI_REFERENCE = re.compile(_URI_REST)


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_time(text: str) -> bool:
    return _TIME.fullmatch(text) is not None


def _is_date_time(text: str) -> bool:
    return text[10:11] in ("T", "t") and _is_date(text[:10]) and _is_time(text[11:])


def _is_ipv4(text: str) -> bool:
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return "%" not in text


FORMATS: dict[str, Callable[[str], bool]] = {
    "date": _is_date,
    "date-time": _is_date_time,
    "time": _is_time,
    "email": lambda text: _EMAIL.fullmatch(text) is not None,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "uri": lambda text: _URI.fullmatch(text) is not None,
    "uri-reference": lambda text: _URI_REFERENCE.fullmatch(text) is not None,
    "uuid": lambda text: _UUID.fullmatch(text) is not None,
}
