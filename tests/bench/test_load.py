"""The load generator against servers that misbehave: it must never count nonsense."""

import socket
from threading import Thread
from uuid import uuid4

import pytest

from bench.load import LoadError, drive
from bench.talks import Queue, Tally, many_at_once, one_by_one

QUEUE = Queue(uuid4(), uuid4(), "nvma_token")
CLAIMED = b'{"lease":{"id":"L1"},"lease_token":"T1"}'
NOTHING = b'{"lease":null,"lease_token":null,"reason":"drained"}'


def answer(body, status=b"200 OK"):
    return b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body)


@pytest.fixture
def served():
    """Serves one connection: for each request the next list of pieces."""
    servers, threads = [], []

    def serve(*answers):
        server = socket.create_server(("127.0.0.1", 0))
        asked = []

        def work():
            line, _ = server.accept()
            with line:
                for pieces in answers:
                    asked.append(line.recv(65536))
                    for piece in pieces:
                        line.sendall(piece)

        threads.append(Thread(target=work))
        threads[-1].start()
        servers.append(server)
        return server.getsockname(), asked

    yield serve
    for server, thread in zip(servers, threads, strict=True):
        thread.join(10)
        server.close()


def turns(count):
    return iter([True] * count + [False]).__next__


def test_a_cycle_is_a_claim_and_a_complete_with_its_receipt(served):
    address, asked = served([answer(CLAIMED)], [answer(b"{}")])
    tally = Tally()
    drive(address, [one_by_one(QUEUE, tally, turns(1))])
    assert (tally.cards, tally.empty, len(tally.claim_seconds)) == (1, 0, 1)
    assert f"/columns/{QUEUE.column_id}:claim-next ".encode() in asked[0]
    assert b"POST /v1/leases/L1:complete " in asked[1]
    assert b'"lease_token":"T1"' in asked[1]


def test_an_answer_in_pieces_is_put_together(served):
    whole = answer(CLAIMED)
    pieces = [whole[:10], whole[10:50], whole[50:]]
    address, _ = served(pieces, [answer(b"{}")])
    tally = Tally()
    drive(address, [one_by_one(QUEUE, tally, turns(1))])
    assert tally.cards == 1


def test_an_empty_claim_is_no_cycle(served):
    address, _ = served([answer(NOTHING)])
    tally = Tally()
    drive(address, [one_by_one(QUEUE, tally, turns(1))])
    assert (tally.cards, tally.empty) == (0, 1)


def test_an_error_ends_the_measurement(served):
    address, _ = served([answer(b'{"code":"conflict"}', b"409 Conflict")])
    with pytest.raises(LoadError, match="409"):
        drive(address, [one_by_one(QUEUE, Tally(), turns(1))])


def test_a_lease_that_was_not_completed_ends_the_measurement(served):
    claims = b'{"claims":[%b,%b]}' % (CLAIMED, CLAIMED)
    results = b'{"results":[{"ended":{"lease":{"state":"completed"}}},{"error":{}}]}'
    address, _ = served([answer(claims)], [answer(results)])
    with pytest.raises(LoadError, match="Not all"):
        drive(address, [many_at_once(QUEUE, Tally(), turns(1), 2)])


def test_a_server_that_hangs_up_ends_the_measurement(served):
    address, _ = served([])
    with pytest.raises(LoadError, match="hung up"):
        drive(address, [one_by_one(QUEUE, Tally(), turns(1))])
