"""novum login [URL]"""

import os
import sys

from novum.cli import output
from novum.cli.errors import Failure, Usage
from novum.cli.options import Given
from novum.cli.places import (
    DEFAULT_URL,
    Server,
    clean_token,
    clean_url,
    read_config,
    write_config,
)
from novum.cli.session import Session


def run(given: Given) -> int:
    given.allow()
    given.expect_words(2)
    url = _url(given)
    token = clean_token(_token(url))
    if not token:
        raise Usage("No token was given. A worker token begins with nvma_.")
    server = Server(url, token)
    me = Session(given, server).call("get_me")
    try:
        path = write_config(server)
    except OSError as error:
        raise Failure(f"Can't keep it: {error}.") from None
    handle, workspace = me["actor"]["handle"], me["workspace"]["name"]
    output.say(f"signed in to {url} as @{handle} of {workspace}; kept in {path}.")
    return 0


def _url(given: Given) -> str:
    named = given.words[1] if given.words[1:] else given.options.get("--url")
    otherwise = os.environ.get("NOVUM_URL") or read_config().url or DEFAULT_URL
    if not named and sys.stdin.isatty():
        sys.stderr.write(f"Address [{otherwise}]: ")
        sys.stderr.flush()
        named = sys.stdin.readline().strip()
    return clean_url(named or otherwise)


def _token(url: str) -> str:
    """From the terminal, not shown; else the first line of standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    # For people only, who have the time.
    from getpass import getpass

    try:
        return getpass(f"Worker token for {url}: ").strip()
    except EOFError:
        return ""
