"""How the server knows our readers: a number and a name for each, so that nobody ends another's dump.

A reader that comes back, after a crash or as a second attempt of a task, has its old name: it replaces itself at the
server, where its old connection may still stand. Two queries have different names, because each draws one when it
begins and keeps it in its checkpoint.
"""

from __future__ import annotations

import uuid
import zlib
from typing import Final

from datasources.mysql.binlog.reading.opening import ReaderId
from datasources.mysql.config.mysql_options import parse_server_ids

__all__ = ["reader_id"]

_NAMESPACE: Final = uuid.UUID("6f0d3e4c-52b5-4f2a-9d7e-0f6b8f0f2b11")
_OWN_RANGE: Final = 1 << 31  # servers and tools are numbered from below as a rule


def reader_id(query: str, role: str, configured: str | None) -> ReaderId:
    """Return the id of a reader of a query.

    Args:
        query: drawn when the query began, kept in its checkpoint.
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
    """The number at a role's end, behind those of the roles that have none. MariaDB needs a second id beside each."""
    number = role.rpartition("-")[2]
    return int(number) + 2 if number.isdecimal() else len(role) % 2
