import random
import socket


def two_free_ports():
    """The first of two ports in a row, below those the system hands out by itself."""
    while True:
        port = random.randrange(20_000, 30_000)
        try:
            with socket.create_server(("127.0.0.1", port)):
                socket.create_server(("127.0.0.1", port + 1)).close()
        except OSError:
            continue
        return port
