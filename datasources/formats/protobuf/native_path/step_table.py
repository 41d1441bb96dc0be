"""The steps of a message as the C library reads them."""

from __future__ import annotations

import struct
from typing import Final

import numpy as np

from datasources.formats.protobuf.linking.steps import Absent, Form, Step, Target, Wire
from datasources.native.column_words import SPARE_BYTES
from datasources.native.protobuf_rows import NodeWord, ProtobufNodes

_NO_SYMBOL: Final = (0, 0, 0)
_TAG_BITS: Final = 3
_SIGN: Final = 2**63
_REALS: Final = {Form.FLOAT: ("<f", "<i"), Form.DOUBLE: ("<d", "<q")}


def nodes_of(root: Step) -> ProtobufNodes:
    """Return the table of a message's steps."""
    return _Table(root).nodes()


class _Table:
    def __init__(self, root: Step) -> None:
        self._steps = [root]
        self._symbols: list[tuple[int, int, int]] = []
        self._texts = bytearray()
        self._oneofs: dict[int, int] = {}
        self._rows = []
        for step in self._steps:  # which grows meanwhile
            self._rows.append(self._row(step))

    def nodes(self) -> ProtobufNodes:
        """Return what was made of the steps."""
        return ProtobufNodes(
            table=np.array([[row.get(word, 0) for word in NodeWord] for row in self._rows], np.int64),
            symbols=np.array([*self._symbols, _NO_SYMBOL], np.int64),
            texts=np.frombuffer(bytes(self._texts) + bytes(SPARE_BYTES), np.uint8),
        )

    def _row(self, step: Step) -> dict[NodeWord, int]:
        first, count = self._symbols_of(step) if step.form == Form.ENUM else self._children_of(step)
        at, size = self._text(step)
        return {
            NodeWord.FORM: int(step.form),
            NodeWord.TARGET: int(step.target),
            NodeWord.COLUMN: step.column,
            NodeWord.LIST: step.list_column,
            NodeWord.IS_REPEATED: int(step.is_repeated),
            NodeWord.FIRST: first,
            NodeWord.COUNT: count,
            NodeWord.TAG: step.number << _TAG_BITS | step.wire,
            NodeWord.PACKED_TAG: (step.number << _TAG_BITS | Wire.SIZED) if step.is_packable else 0,
            NodeWord.ABSENT: int(step.absent),
            NodeWord.VALUE: _bits(step),
            NodeWord.AT: at,
            NodeWord.SIZE: size,
            NodeWord.ONEOF: self._oneofs.get(id(step), -1),
            NodeWord.IS_CLOSED: int(step.is_closed),
            NodeWord.SCALE: step.scale,
        }

    def _children_of(self, step: Step) -> tuple[int, int]:
        """Return where the children of a step begin, and their number; a oneof is its first member."""
        first = len(self._steps)
        members: dict[str, int] = {}
        for position, child in enumerate(step.children, first):
            if child.oneof:
                self._oneofs[id(child)] = members.setdefault(child.oneof, position)
        self._steps += step.children
        return first, len(step.children)

    def _symbols_of(self, step: Step) -> tuple[int, int]:
        first = len(self._symbols)
        for number, name in sorted(step.symbols.items()):
            content = name.encode()
            self._symbols.append((number, len(self._texts), len(content)))
            self._texts += content
        return first, len(step.symbols)

    def _text(self, step: Step) -> tuple[int, int]:
        """Return where the text of an absent field is, and its size."""
        if step.absent != Absent.DEFAULT or step.target != Target.TEXT or step.form == Form.ENUM:
            return 0, 0
        content = step.default.encode() if isinstance(step.default, str) else step.default
        assert isinstance(content, bytes)
        self._texts += content
        return len(self._texts) - len(content), len(content)


def _bits(step: Step) -> int:
    """Return the bits of an absent field's number."""
    if step.absent != Absent.DEFAULT or isinstance(step.default, (str, bytes)):
        return 0
    if step.form in _REALS:
        real, integer = _REALS[step.form]
        found: int = struct.unpack(integer, struct.pack(real, step.default))[0]
        return found
    number = int(step.default)
    return number - 2 * _SIGN if number >= _SIGN else number
