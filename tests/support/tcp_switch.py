"""A port that leads to one server and then to another one: what a name or a virtual address is in production."""

from __future__ import annotations

import math
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

__all__ = ["TcpSwitch", "tcp_switch"]

_PIECE = 65_536


class TcpSwitch:
    """Forwards connections of its port.

    Args:
        listener: takes the connections.
        target: the port on loopback to which they lead.

    Attributes:
        passed_bytes: what was passed on so far, in both directions.
    """

    def __init__(self, listener: socket.socket, target: int) -> None:
        self._listener = listener
        self._target = target
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._allowance: float = math.inf
        self.passed_bytes = 0
        self.port: int = listener.getsockname()[1]

    def lead_to(self, target: int) -> None:
        """Lead new connections elsewhere and end those that there are."""
        with self._lock:
            self._target = target
        self.hang_up()

    def hang_up(self) -> None:
        """End all connections."""
        with self._lock:
            self._end_all()

    def swallow(self, *, after_bytes: int = 0) -> None:
        """Take what is sent and pass only so much of it on: connections stay open, as behind a dead firewall."""
        with self._lock:
            self._allowance = after_bytes

    def mend(self) -> None:
        """Pass everything on again; connections of the time before, which lack bytes, are ended."""
        with self._lock:
            self._end_all()
            self._allowance = math.inf

    def _end_all(self) -> None:
        ended, self._open = self._open, set()
        for each in ended:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _pass(self, piece: bytes, sink: socket.socket) -> None:
        with self._lock:
            self._allowance -= len(piece)
            is_passed = self._allowance >= 0
            self.passed_bytes += len(piece) if is_passed else 0
        if is_passed:
            sink.sendall(piece)

    def serve(self) -> None:
        """Take connections until the listener is closed."""
        while True:
            try:
                taken, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                target = self._target
            try:
                onward = socket.create_connection(("127.0.0.1", target))
            except OSError:
                taken.close()
                continue
            with self._lock:
                self._open |= {taken, onward}
            for source, sink in ((taken, onward), (onward, taken)):
                threading.Thread(target=_pump, args=(source, sink, self._pass), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket, onward: Callable[[bytes, socket.socket], None]) -> None:
    with suppress(OSError):
        while piece := source.recv(_PIECE):
            onward(piece, sink)
    for each in (source, sink):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


@contextmanager
def tcp_switch(target: int) -> Iterator[TcpSwitch]:
    """Open a port that leads to a port on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        switch = TcpSwitch(listener, target)
        thread = threading.Thread(target=switch.serve, daemon=True)
        thread.start()
        try:
            yield switch
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            switch.hang_up()
            thread.join(10)
