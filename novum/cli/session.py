"""A server to talk to, and what it can do."""

from typing import Any

from novum.cli.calling import read_values, request_of
from novum.cli.catalog import Catalog, Operation
from novum.cli.errors import Failure, Refused, Unreached, Usage
from novum.cli.options import Given
from novum.cli.places import Server, chosen_server, clean_url
from novum.cli.transport import TIMEOUT_SECONDS, Answer, Request, Transport

ME = "/v1/me"
# Answers after which the list of operations may be out of date.
DOUBTFUL_STATUSES = {404, 405}


class Session:
    def __init__(self, given: Given, server: Server | None = None) -> None:
        self.server = server or chosen_server(given.options.get("--url"))
        seconds = given.options.get("--timeout", TIMEOUT_SECONDS)
        self.transport = Transport(self.server, seconds)
        self.catalog = Catalog(self.transport)
        self._live: Transport | None = None

    def require_token(self) -> None:
        """Raises Usage."""
        if not self.server.token:
            raise Usage(
                f"No token for {self.server.url}: `novum login`, or NOVUM_TOKEN."
            )

    def read(self, name: str, words: list[str]) -> tuple[Operation, dict[str, Any]]:
        """The operation and the values of `key=value` words. Raises Usage; but first a
        field that's unknown here is asked for, because it may be new."""
        operation = self.catalog.operation(name)
        try:
            return operation, read_values(operation, words)
        except Usage:
            self.catalog.refresh_if_settled()
            operation = self.catalog.operation(name)
            return operation, read_values(operation, words)

    def request(self, name: str, **values: Any) -> Request:
        """Of our own commands: what this server does not take yet is left out."""
        operation = self.catalog.operation(name)
        if not all(map(operation.field, values)):
            self.catalog.refresh_if_settled()
            operation = self.catalog.operation(name)
        known = {name: one for name, one in values.items() if operation.field(name)}
        return request_of(operation, known)

    def call(self, name: str, **values: Any) -> Any:
        """The answer as a value. Raises Refused, Unreached, Failure."""
        return self.done(self.request(name, **values)).value()

    def done(self, request: Request) -> Answer:
        waits = request.extra_seconds > 0
        try:
            transport = self._waiting() if waits else self.transport
            return transport.get_done(request)
        except Refused as error:
            if error.status in DOUBTFUL_STATUSES or b'"unknown_field"' in error.body:
                self.catalog.doubt()
            raise
        except Unreached:
            self._live = None
            raise
        except ValueError as error:
            raise Failure(f"{self.server.url}: {error}.") from None

    def waiting_door(self) -> Transport | None:
        """A connection of one's own to where calls may wait; None where none can."""
        try:
            live = self._waiting()
        except Refused:
            # A token that may not read.
            self._live = live = self.transport
        return None if live is self.transport else live.twin()

    def forget_door(self) -> None:
        self._live = None

    def _waiting(self) -> Transport:
        """Where calls that wait are served, by the server's own word. Where that can't
        be reached from here the ordinary place answers them at once."""
        if self._live is None:
            me = self.transport.get_done(Request("GET", ME, may_repeat=True)).value()
            try:
                live = self.server._replace(url=clean_url(me["live_url"]))
                self._live = Transport(live, self.transport.timeout)
                self._live.connect()
            except (Unreached, Usage):
                self._live = self.transport
        return self._live
