"""Between the web server and PostgreSQL: lets a commit through and keeps its answer
to itself. So a server can be killed exactly between its commit and its reply."""

import socket
import threading
from contextlib import suppress

COMMIT = b"COMMIT"


class Proxy:
    """Listens on `port`. After `arm()` the next commit reaches PostgreSQL, `committed`
    is set when PostgreSQL has done it, and nothing comes back."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._armed = threading.Event()
        self.committed = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def arm(self) -> None:
        self.committed.clear()
        self._armed.set()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = self._connected()
            caught = threading.Event()
            for way in ((near, far, caught, True), (far, near, caught, False)):
                threading.Thread(target=self._pump, args=way, daemon=True).start()

    def _connected(self) -> socket.socket:
        host, port = self._target
        if host.startswith("/"):
            far = socket.socket(socket.AF_UNIX)
            far.connect(f"{host}/.s.PGSQL.{port}")
            return far
        return socket.create_connection(self._target)

    def _pump(
        self,
        source: socket.socket,
        sink: socket.socket,
        caught: threading.Event,
        is_asking: bool,
    ) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if is_asking and self._armed.is_set() and COMMIT in data:
                    self._armed.clear()
                    caught.set()
                elif caught.is_set() and not is_asking:
                    self.committed.set()
                    continue
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
