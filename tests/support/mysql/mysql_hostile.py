"""A hostile server: it speaks MySQL's login, requests one plugin, and records what the client sends."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from datasources.embedded.process.certificates import certificate_settings

__all__ = ["HostileServer", "hostile_server"]

_SALT = b"abcdefghijklmnopqrst"
_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
_PEM = _KEY.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
_CLIENT_SSL = 0x0800
# Long password, protocol 4.1, transactions, secure connection, plugins, their data with a length.
_CAPABILITIES = 0x0000_0001 | 0x0200 | 0x2000 | 0x8000 | 0x0008_0000 | 0x0020_0000
_SSL_REQUEST_BYTES = 32
_REFUSED = b"\xff\x15\x04#28000Access denied"
_ASKS_FOR_ALL = b"\x01\x04"
_ASKS_FOR_A_KEY = (b"\x01", b"\x02")
_LET_IN = b"\0\0\0\x02\0\0\0"
_DEADLINE_S = 10.0


@dataclass(kw_only=True)
class HostileServer:
    """What it asks for and what it got.

    Attributes:
        plugin: The plugin of the login that it asks for.
        greets: Whether it names the plugin when it greets; otherwise it asks to switch to it.
        context: Its TLS; None = it has none.
        wants_file: A file of the client that it asks for once it has let the login in.
        address: Where it listens.
        packets: What clients sent after TLS was taken away.
    """

    plugin: str
    greets: bool = False
    context: ssl.SSLContext | None = None
    wants_file: str = ""
    address: tuple[str, int] = ("", 0)
    packets: list[bytes] = field(default_factory=list)

    def learned(self, password: bytes) -> bool:
        """Whether a password is among what was sent: in clear, or encrypted for this server's own key."""
        return any(password in text for packet in self.packets for text in (packet, *self._decrypted(packet)))

    def _decrypted(self, packet: bytes) -> Iterator[bytes]:
        with suppress(ValueError):
            text = _KEY.decrypt(packet, padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None))  # noqa: S303 - MySQL's
            yield bytes(byte ^ _SALT[index % len(_SALT)] for index, byte in enumerate(text))

    def serve(self, listener: socket.socket) -> None:
        """Serve one client after the other until the listener is closed."""
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, suppress(OSError, EOFError):
                connection.settimeout(_DEADLINE_S)
                self._serve_one(connection)

    def _serve_one(self, connection: socket.socket) -> None:
        _send(connection, 0, self._greeting())
        number, login = self._read(connection)
        if len(login) == _SSL_REQUEST_BYTES and self.context is not None:
            connection = self.context.wrap_socket(connection, server_side=True)
            number, login = self._read(connection)
        with connection:
            self._ask(connection, number)

    def _ask(self, connection: socket.socket, number: int) -> None:
        if self.wants_file:
            self._ask_for_file(connection, number)
            return
        _send(connection, number + 1, self._request())
        while True:
            number, answer = self._read(connection)
            if answer in _ASKS_FOR_A_KEY:
                _send(connection, number + 1, b"\x01" + _PEM)
            elif self.plugin == "caching_sha2_password" and len(answer) == hashes.SHA256.digest_size:
                _send(connection, number + 1, _ASKS_FOR_ALL)
            else:
                _send(connection, number + 1, _REFUSED)
                return

    def _ask_for_file(self, connection: socket.socket, number: int) -> None:
        _send(connection, number + 1, _LET_IN)
        while True:
            number, packet = self._read(connection)
            if packet:
                _send(connection, number + 1, b"\xfb" + self.wants_file.encode())

    def _request(self) -> bytes:
        if self.greets and self.plugin == "caching_sha2_password":
            return _ASKS_FOR_ALL
        if self.greets and self.plugin == "sha256_password":
            return b"\x01" + _PEM
        data = b"\x05Password: " if self.plugin == "dialog" else _SALT + b"\0"
        return b"\xfe" + self.plugin.encode() + b"\0" + data

    def _greeting(self) -> bytes:
        capabilities = _CAPABILITIES | (_CLIENT_SSL if self.context is not None else 0)
        named = self.plugin if self.greets else "mysql_native_password"
        return (
            b"\x0a8.0.36\0" + struct.pack("<I", 7) + _SALT[:8] + b"\0" + struct.pack("<H", capabilities & 0xFFFF)
            + b"\xff\x02\0" + struct.pack("<HB", capabilities >> 16, len(_SALT) + 1) + bytes(10)
            + _SALT[8:] + b"\0" + named.encode() + b"\0"
        )  # fmt: skip

    def _read(self, connection: socket.socket) -> tuple[int, bytes]:
        head = _exactly(connection, 4)
        packet = _exactly(connection, int.from_bytes(head[:3], "little"))
        self.packets.append(packet)
        return head[3], packet


@contextmanager
def hostile_server(plugin: str, *, greets: bool = False, certificates: Path | None = None) -> Iterator[HostileServer]:
    """Run a server on loopback that asks for a plugin, with the certificate of `make_certificates` if given."""
    server = HostileServer(plugin=plugin, greets=greets)
    if certificates is not None:
        files = certificate_settings(certificates)
        server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.context.load_cert_chain(files["ssl-cert"], files["ssl-key"])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server.address = listener.getsockname()
        thread = threading.Thread(target=server.serve, args=[listener], daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(_DEADLINE_S)


def _send(connection: socket.socket, number: int, packet: bytes) -> None:
    connection.sendall(len(packet).to_bytes(3, "little") + bytes([number % 256]) + packet)


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return data
