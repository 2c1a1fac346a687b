"""A URL that a webhook may go to, taken apart; the rules that need no look-up."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

import idna
from django.conf import settings

from webhooks import conf
from webhooks.sending.addresses import is_public

MAX_URL_CHARACTERS = 2000
# Anything else must be percent-encoded, whatever lenient readers make of it.
_PLAIN = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*\Z")
# Parts of a name that ends in one are a number somewhere (127.1, 0x7f000001, 017700000001).
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]*|[0-9]+)\Z")
_NAME = re.compile(
    r"(?=.{1,253}\Z)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*"
    r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z"
)
_INSIDE = ("localhost", "local", "internal", "intranet", "lan", "home.arpa", "onion")
_DEFAULT_PORTS = {"https": 443, "http": 80}


class Refused(Exception):
    """This URL may not be called. `code` is stable, the text is for people."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code, self.detail = code, detail


@dataclass(frozen=True)
class Target:
    """`host` as it's looked up: an ASCII name or an address. `path` with the query."""

    is_secure: bool
    host: str
    port: int
    path: str
    is_own: bool

    @property
    def header(self) -> str:
        """What goes into the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = self.port == _DEFAULT_PORTS["https" if self.is_secure else "http"]
        return host if default else f"{host}:{self.port}"


def target_of(url: str) -> Target:
    """Raises Refused."""
    url = _plain(url)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Refused("bad_url", "That's not a URL.") from None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise Refused("bad_url", "Write the whole URL: https://…")
    if "@" in parts.netloc:
        raise Refused("bad_url", "No user name or password in a URL: use a header.")
    if "#" in url:
        raise Refused("bad_url", "No fragment: receivers never get to see it.")
    host = _host(parts.hostname)
    is_secure = parts.scheme == "https"
    target = Target(
        is_secure=is_secure,
        host=host,
        port=_DEFAULT_PORTS[parts.scheme] if port is None else port,
        path=(parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
        is_own=host in conf.ALLOWED_HOSTS,
    )
    _check(target)
    return target


def _plain(url: str) -> str:
    """The URL in ASCII: a name in it may be in any script, nothing else."""
    if len(url) > MAX_URL_CHARACTERS:
        raise Refused("bad_url", f"At most {MAX_URL_CHARACTERS} characters.")
    found = re.match(r"(https?://)([^/?#]*)(.*)\Z", url, re.DOTALL)
    if found is None:
        raise Refused("bad_url", "Write the whole URL: https://…")
    scheme, place, rest = found.groups()
    if not place.isascii():
        name, colon, port = place.partition(":")
        place = _ascii(name) + colon + port
    if not _PLAIN.match(place + rest):
        raise Refused("bad_url", "Some character in it must be percent-encoded.")
    return scheme + place + rest


def _ascii(name: str) -> str:
    try:
        return idna.encode(name, uts46=True).decode()
    except idna.IDNAError:
        raise Refused("bad_url", "That's no name of a host.") from None


def _host(text: str) -> str:
    host = text.rstrip(".").lower()
    if "%" in host:
        raise Refused("bad_url", "An address without a zone, please.")
    try:
        return str(ip_address(host))
    except ValueError:
        pass
    if ":" in host or _NUMBER.match(host.rpartition(".")[2]) or not _NAME.match(host):
        raise Refused("bad_url", "That's no name of a host, and no address as usual.")
    return host


def _check(target: Target) -> None:
    if target.is_own:
        return
    if not target.is_secure and not conf.ALLOW_HTTP:
        raise Refused("needs_https", "Only https: others could read it on the way.")
    if target.port not in conf.PORTS:
        ports = ", ".join(map(str, sorted(conf.PORTS)))
        raise Refused("forbidden_port", f"Only the ports {ports}.")
    if _is_address(target.host):
        if not is_public(target.host):
            raise Refused("forbidden_address", "That address is not a public one.")
    elif "." not in target.host or _is_inside(target.host):
        raise Refused("forbidden_address", "That name is not a public one.")


def _is_inside(host: str) -> bool:
    """Names that never mean the internet, and those of our own services."""
    own = {
        str(settings.DATABASES["default"].get("HOST", "")).lower(),
        urlsplit(settings.REDIS_URL).hostname or "",
    }
    return host in own or any(host.endswith(f".{end}") for end in _INSIDE)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
