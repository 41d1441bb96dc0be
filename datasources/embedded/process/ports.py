"""Loopback ports for servers that start and stop.

Ports are taken from below the range that the kernel gives to outgoing connections. A port of that range could be taken
by a client while its server is down, and a client that keeps calling it on loopback can even connect to itself.
"""

from __future__ import annotations

import secrets
import socket
from typing import Final

from datasources.errors import EnvironmentProblem

LOOPBACK: Final = "127.0.0.1"
_FIRST: Final = 20_000
_COUNT: Final = 10_000
_ATTEMPTS: Final = 200


def is_free(port: int) -> bool:
    """Return whether a server could listen on a loopback port right now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def free_ports(count: int) -> tuple[int, ...]:
    """Return different free loopback ports; another process may still take one before it is used.

    Raises:
        EnvironmentProblem: No free port was found in many attempts.
    """
    found: set[int] = set()
    for _ in range(_ATTEMPTS):
        port = _FIRST + secrets.randbelow(_COUNT)
        if is_free(port):
            found.add(port)
        if len(found) == count:
            return tuple(found)
    raise EnvironmentProblem(
        f"found no {count} free ports on {LOOPBACK} between {_FIRST} and {_FIRST + _COUNT - 1}: "
        "stop the servers that hold them"
    )
