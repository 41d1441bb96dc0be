"""Which message of its schema's file a record is: a path of indexes, which Confluent's serializers write before it.

A zigzag number is the length of the path, and each index another one; the path of the file's first message is the
single byte 0. Among the messages within a message, the reference implementation in Java does not count the types of
the entries of maps, and those in Python and Go do. Where the two mean different messages, the path is ambiguous.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasources.errors import SchemaError

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FileDescriptor

Indexes = tuple[int, ...]
FIRST: Final[Indexes] = (0,)
_MORE: Final = 0x80
_MAX_BYTES: Final = 10
_MAX_INDEXES: Final = 100


class IndexGroups:
    """The payloads of a batch by their indexes.

    Attributes:
        groups: indexes, the positions of the payloads that have them, and these payloads without them.
        reasons: position -> why a payload has no indexes.
    """

    def __init__(self, payloads: pa.Array) -> None:
        self.reasons: dict[int, str] = {}
        is_first = _begins_with_zero(payloads)
        self.groups: list[tuple[Indexes, npt.NDArray[np.intp], pa.Array]] = []
        if is_first.any():
            rows = np.flatnonzero(is_first)
            end = pc.max(pc.binary_length(payloads)).as_py()
            chosen = payloads if len(rows) == len(payloads) else payloads.take(pa.array(rows))
            self.groups.append((FIRST, rows, pc.binary_slice(chosen, 1, max(end, 1))))
        if not is_first.all():
            self._add_others(payloads, np.flatnonzero(~is_first))

    def _add_others(self, payloads: pa.Array, rows: npt.NDArray[np.intp]) -> None:
        found: dict[Indexes, list[tuple[int, bytes]]] = {}
        for row in rows.tolist():
            raw = payloads[row].as_py()
            try:
                indexes, at = _read(raw)
            except _NoIndexes as reason:
                self.reasons[row] = str(reason)
            else:
                found.setdefault(indexes, []).append((row, raw[at:]))
        for indexes, each in found.items():
            positions = np.array([row for row, _ in each], np.intp)
            self.groups.append((indexes, positions, pa.array([raw for _, raw in each], pa.binary())))


class _NoIndexes(ValueError):
    """A payload does not begin with indexes; the message is the reason."""


def _begins_with_zero(payloads: pa.Array) -> npt.NDArray[np.bool_]:
    count = len(payloads)
    _, offsets, data = payloads.buffers()
    begins = np.frombuffer(offsets, np.int32, count + 1, payloads.offset * 4)
    content = np.frombuffer(data if data is not None and data.size else b"\1", np.uint8)
    has_bytes = np.diff(begins) > 0
    first: npt.NDArray[np.uint8] = content[np.where(has_bytes, begins[:-1], 0)]
    found: npt.NDArray[np.bool_] = has_bytes & (first == 0)
    return found


def _read(raw: bytes) -> tuple[Indexes, int]:
    count, at = _number(raw, 0)
    if not 0 <= count <= _MAX_INDEXES:
        raise _NoIndexes(f"it has a path of {count} message indexes, so it was not written with a schema registry")
    indexes = []
    for _ in range(count):
        index, at = _number(raw, at)
        indexes.append(index)
    return tuple(indexes) or FIRST, at


def _number(raw: bytes, at: int) -> tuple[int, int]:
    bits = 0
    for position in range(at, min(len(raw), at + _MAX_BYTES)):
        byte = raw[position]
        bits |= (byte & ~_MORE) << 7 * (position - at)
        if byte < _MORE:
            return (bits >> 1) ^ -(bits & 1), position + 1
    raise _NoIndexes("it ends within its message indexes")


def message_at(file: FileDescriptor, indexes: Indexes, expected: str | None) -> Descriptor:
    """Return the message that indexes lead to.

    Args:
        file: the schema's.
        indexes: the path.
        expected: the message that is wanted, with its package; it decides where the path is ambiguous.

    Raises:
        SchemaError: they lead to none, or to several.
    """
    found = {
        each.full_name: each for each in (_walk(file, indexes, with_entries=flag) for flag in (False, True)) if each
    }
    if not found:
        raise SchemaError(f"it has no message with the indexes {list(indexes)}")
    if expected in found:
        return found[expected]
    if len(found) > 1:
        raise SchemaError(
            f"its message indexes {list(indexes)} are those of {' and '.join(map(repr, found))}, by different writers; "
            "name one by the option 'message-class-name'"
        )
    return next(iter(found.values()))


def _walk(file: FileDescriptor, indexes: Indexes, *, with_entries: bool) -> Descriptor | None:
    messages: Sequence[Descriptor] = list(file.message_types_by_name.values())
    found: Descriptor | None = None
    for index in indexes:
        if not 0 <= index < len(messages):
            return None
        found = messages[index]
        messages = [each for each in found.nested_types if with_entries or not each.GetOptions().map_entry]
    return None if found is None or found.GetOptions().map_entry else found
