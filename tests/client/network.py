"""Between a worker and the server: a network that cuts, stalls and loses answers."""

import socket
import threading
from contextlib import suppress


class Network:
    """Passes everything on until it's told otherwise.

    `lose(text, times)`: so many answers to requests with this text in their first line
    reach nobody, though the server does what they ask. `cut()`: every connection ends,
    and new ones are refused until `mend()`. `stall()`: connections stay, new ones come
    about, and no byte passes until `mend()`.
    """

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._flows = threading.Event()
        self._flows.set()
        self._is_cut = False
        # A connection is there when all are cut, or it comes afterwards.
        self._lock = threading.Lock()
        self._to_lose, self._about = 0, b""
        self.requests: list[str] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def lose(self, about: str, times: int = 1) -> None:
        self._to_lose, self._about = times, about.encode()

    def cut(self) -> None:
        with self._lock:
            self._is_cut = True
            for pair in self._pairs:
                _end(*pair)

    def stall(self) -> None:
        self._flows.clear()

    def mend(self) -> None:
        self._is_cut = False
        self._flows.set()

    def count(self, about: str) -> int:
        return sum(about in one for one in self.requests)

    def close(self) -> None:
        self._listener.close()
        self.cut()
        self._flows.set()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                with self._lock:
                    if self._is_cut:
                        raise ConnectionError
                    far = socket.create_connection(self._address)
                    self._pairs.append((near, far))
            except OSError:
                near.close()
                continue
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
                self._flows.wait()
                if is_asking:
                    self._note(data, lost)
                elif lost.is_set():
                    break
                sink.sendall(data)
        _end(source, sink)

    def _note(self, data: bytes, lost: threading.Event) -> None:
        first = data.split(b"\r\n", 1)[0]
        if b" HTTP/1" not in first:
            return
        self.requests.append(first.decode())
        if self._to_lose and self._about in first:
            self._to_lose -= 1
            lost.set()


def _end(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
