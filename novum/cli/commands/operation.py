"""novum <operation> key=value …"""

from novum.cli import output
from novum.cli.calling import request_of
from novum.cli.options import Given
from novum.cli.session import Session


def run(given: Given) -> int:
    given.allow("--raw", "--query", "--key")
    session = Session(given)
    name, *words = [*given.words, *(given.rest or [])]
    operation, values = session.read(name, words)
    request = request_of(operation, values, given.options.get("--key"))
    session.require_token()
    body = session.done(request).body
    output.show(body, raw=given.flag("--raw"), query=given.options.get("--query"))
    return 0
