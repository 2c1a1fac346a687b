import os
import random
import socket


def two_free_ports():
    """The first of two ports in a row, below those the system hands out by itself, and
    of none that a test process beside this one may be about to take."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 5
    while True:
        port = random.randrange(20_000 + 2_000 * number, 22_000 + 2_000 * number, 2)
        try:
            with socket.create_server(("127.0.0.1", port)):
                socket.create_server(("127.0.0.1", port + 1)).close()
        except OSError:
            continue
        return port
