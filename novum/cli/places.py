"""Where the command line keeps what it remembers, and the environment it reads.

The configuration (address and token, mode 600) lies under XDG_CONFIG_HOME, the lists of
operations under XDG_CACHE_HOME, both in a folder `novum`.
"""

import json
import os
import sys
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from novum.cli.errors import Usage

DEFAULT_URL = "http://127.0.0.1:8000"


class Server(NamedTuple):
    url: str
    token: str


def config_path() -> str:
    return os.path.join(_folder("XDG_CONFIG_HOME", ".config"), "config.json")


def cache_path(url: str) -> str:
    name = quote(url, safe="") + ".json"
    return os.path.join(_folder("XDG_CACHE_HOME", ".cache"), name)


def _folder(variable: str, otherwise: str) -> str:
    # The specification says to ignore what is not absolute.
    base = os.environ.get(variable, "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), otherwise)
    return os.path.join(base, "novum")


def chosen_server(option: str | None) -> Server:
    """By `--url`, else NOVUM_URL, else the configuration; the token by NOVUM_TOKEN, else
    the configuration, but never to another server than the one it was given for."""
    kept = read_config()
    asked = option or os.environ.get("NOVUM_URL") or ""
    url = clean_url(asked or kept.url or DEFAULT_URL)
    token = os.environ.get("NOVUM_TOKEN", "").strip()
    if not token and url == kept.url:
        token = kept.token
    return Server(url, clean_token(token))


def read_config() -> Server:
    found = read_json(config_path())
    if not isinstance(found, dict):
        return Server("", "")
    _warn_of_readers(config_path())
    return Server(str(found.get("url") or ""), str(found.get("token") or ""))


def write_config(server: Server) -> str:
    path = config_path()
    write_json(path, {"url": server.url, "token": server.token})
    return path


def clean_url(text: str) -> str:
    """Scheme, host and perhaps a path; without `/v1`. Raises Usage."""
    text = text.strip().rstrip("/").removesuffix("/v1").rstrip("/")
    if "://" not in text:
        text = "http://" + text
    if not _is_address(text):
        raise Usage(f"{text!r} is not the address of a server, such as {DEFAULT_URL}.")
    return text


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    beside = parts.query or parts.fragment or "@" in parts.netloc
    known = parts.scheme in ("http", "https") and bool(parts.hostname)
    return known and not beside and port != 0


def clean_token(text: str) -> str:
    if not text.isascii() or any(one.isspace() for one in text):
        raise Usage("The token has characters that no token has.")
    return text


def read_json(path: str) -> Any:
    """None for what isn't there or can't be read."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def write_json(path: str, value: Any) -> None:
    """Readable for nobody else, and whole or not at all. Raises OSError."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    other = f"{path}.{os.getpid()}"
    descriptor = os.open(other, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.replace(other, path)


def _warn_of_readers(path: str) -> None:
    if os.stat(path).st_mode & 0o077:
        sys.stderr.write(f"novum: others can read {path}: chmod 600 it.\n")
