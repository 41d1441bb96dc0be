"""Identities of readers at the server: a number and a UUID each, so that no reader ends another's dump.

A restarted reader, after a crash or as a second attempt of a task, has its old name: it replaces itself at the server,
where its old connection may still be open. Queries have different names: each draws one when it begins and stores it in
its checkpoint.
"""

from __future__ import annotations

import uuid
import zlib
from typing import Final

from datasources.mysql.binlog.reading.opening import ReaderId
from datasources.mysql.config.mysql_options import parse_server_ids

_NAMESPACE: Final = uuid.UUID("6f0d3e4c-52b5-4f2a-9d7e-0f6b8f0f2b11")
_OWN_RANGE: Final = 1 << 31  # servers and tools usually have small numbers


def reader_id(query: str, role: str, configured: str | None) -> ReaderId:
    """Return the id of a reader of a query.

    Args:
        query: drawn when the query began, stored in its checkpoint.
        role: what the reader reads, such as the name of a split.
        configured: the option server-id: a number or a range of them.
    """
    name = uuid.uuid5(_NAMESPACE, f"{query}/{role}")
    number = zlib.crc32(name.bytes)
    if configured is None:
        return ReaderId(server_id=_OWN_RANGE | number, replica_uuid=str(name))
    ids = parse_server_ids(configured)
    return ReaderId(server_id=ids[2 * _number_of(role) % len(ids)], replica_uuid=str(name))


def _number_of(role: str) -> int:
    """Return the number at a role's end, after those of roles without one. MariaDB needs a second id for each."""
    number = role.rpartition("-")[2]
    return int(number) + 2 if number.isdecimal() else len(role) % 2
