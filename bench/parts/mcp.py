"""The same claim and complete by MCP and by REST, with everything on."""

from dataclasses import dataclass, field
from time import perf_counter

from bench.load import LoadError, Talk, drive
from bench.processes import processor_seconds
from bench.report import Figure, middle, spread
from bench.seeding import World, a_queue
from bench.sizes import Sizes
from bench.slices import CONNECTIONS, cycles
from bench.stage import Stage
from bench.talks import OUTPUT, Queue, Tally, one_by_one

REVISION = "2026-07-28"
_META = (
    b'"_meta":{"io.modelcontextprotocol/protocolVersion":"%b",'
    b'"io.modelcontextprotocol/clientCapabilities":{},'
    b'"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"}}'
) % REVISION.encode()


@dataclass(frozen=True)
class McpQueue(Queue):
    """A column as an agent's client sees it: two tools."""

    def claim(self, count: int | None = None) -> bytes:
        where = f'"board_id":"{self.board_id}","column_id":"{self.column_id}"'
        return self._call(b"claim_next_card", where.encode())

    def complete(self, lease: bytes, receipt: bytes) -> bytes:
        given = b'"lease_id":"%b","lease_token":"%b","output":%b'
        return self._call(b"complete_lease", given % (lease, receipt, OUTPUT))

    def _call(self, tool: bytes, arguments: bytes) -> bytes:
        body = (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call",'
            b'"params":{"name":"%b","arguments":{%b},%b}}'
        ) % (tool, arguments, _META)
        return (
            b"POST /v1/mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %b\r\n"
            b"Content-Type: application/json\r\n"
            b"Accept: application/json, text/event-stream\r\n"
            b"MCP-Protocol-Version: %b\r\nMcp-Method: tools/call\r\nMcp-Name: %b\r\n"
            b"Content-Length: %d\r\n\r\n%b"
        ) % (self.token.encode(), REVISION.encode(), tool, len(body), body)


@dataclass
class Side:
    """One of the two that are compared: its rates, and what its cycles took."""

    queue: Queue
    rates: list[float] = field(default_factory=list)
    cards: int = 0
    processor: float = 0.0

    def measure(self, stage: Stage, seconds: float) -> None:
        before = _processor(stage)
        rate, tally = _cycles(stage, self.queue, seconds)
        self.processor += _processor(stage) - before
        self.rates.append(rate)
        self.cards += tally.cards

    @property
    def milliseconds(self) -> float:
        return self.processor / self.cards * 1000


def measure(stage: Stage, world: World, sizes: Sizes) -> list[Figure]:
    queue = a_queue(world, sizes.cards)
    rest = Side(queue)
    mcp = Side(McpQueue(queue.board_id, queue.column_id, queue.token))
    seconds = sizes.slice_seconds
    _cycles(stage, rest.queue, seconds)
    for _ in range(sizes.rounds):
        rest.measure(stage, seconds)
        mcp.measure(stage, seconds)
    ratios = [ours / theirs for ours, theirs in zip(mcp.rates, rest.rates, strict=True)]
    return [
        Figure(
            "mcp",
            "MCP cycles/s : REST cycles/s",
            middle(ratios),
            goal=0.7,
            note=f"{middle(mcp.rates):,.0f} : {middle(rest.rates):,.0f} a second, "
            + spread(ratios),
        ),
        Figure(
            "mcp",
            "processor time of a REST cycle : of an MCP cycle",
            rest.milliseconds / mcp.milliseconds,
            goal=0.7,
            note=f"{rest.milliseconds:.2f} : {mcp.milliseconds:.2f} ms in web and"
            " PostgreSQL",
        ),
    ]


def _processor(stage: Stage) -> float:
    return processor_seconds(stage.web) + processor_seconds(stage.postgres)


def _cycles(stage: Stage, queue: Queue, seconds: float) -> tuple[float, Tally]:
    if not isinstance(queue, McpQueue):
        return cycles(stage, queue, seconds)
    tally = Tally()
    started = perf_counter()

    def goes_on() -> bool:
        return perf_counter() - started < seconds

    talks = [_told(one_by_one(queue, tally, goes_on)) for _ in range(CONNECTIONS)]
    drive(stage.address, talks)
    return tally.cards / (perf_counter() - started), tally


def _told(talk: Talk) -> Talk:
    """The same talk, ended by a tool's error: that has the status 200, too.

    Raises LoadError.
    """
    request = next(talk)
    while True:
        answer = yield request
        if b'"isError":true' in answer[1]:
            raise LoadError(f"A tool failed: {answer[1][:300]!r}")
        try:
            request = talk.send(answer)
        except StopIteration:
            return
