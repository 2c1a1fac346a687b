"""Between the command line and the server: counts requests, and loses answers."""

import re
import socket
import threading
from contextlib import suppress

_START = re.compile(rb"^(GET|POST|PUT|PATCH|DELETE) (\S+) HTTP/1", re.M)


class Wire:
    """Passes everything on. After `lose(times, text)` so many answers to requests whose
    path has the text reach nobody, though the server has done what they ask."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.requests: list[str] = []
        self._to_lose, self._about = 0, ""
        self.heads: list[str] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def lose(self, times: int, about: str) -> None:
        self._to_lose, self._about = times, about

    def count(self, about: str) -> int:
        return sum(about in one for one in self.requests)

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(self._address)
            lost = threading.Event()
            for way in ((near, far, lost, True), (far, near, lost, False)):
                threading.Thread(target=self._pump, args=way, daemon=True).start()

    def _pump(
        self,
        source: socket.socket,
        sink: socket.socket,
        lost: threading.Event,
        is_asking: bool,
    ) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if is_asking:
                    self._note(data, lost)
                elif lost.is_set():
                    break
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _note(self, data: bytes, lost: threading.Event) -> None:
        for method, path in _START.findall(data):
            self.requests.append(f"{method.decode()} {path.decode()}")
            self.heads.append(data.decode(errors="replace"))
            if self._to_lose and self._about in self.requests[-1]:
                self._to_lose -= 1
                lost.set()
