"""The steps of a record as the C library reads them."""

from __future__ import annotations

from typing import Final

import numpy as np

from datasources.formats.avro.resolution.steps import Form, Step
from datasources.native.avro_rows import AvroNodes, NodeWord
from datasources.native.column_words import SPARE_BYTES

_WITHOUT_TEXT: Final = (0, -1)


def nodes_of(root: Step) -> AvroNodes:
    """Return the table of a record's steps; a step with the same children in several records shares their rows."""
    return _Table(root).nodes()


class _Table:
    def __init__(self, root: Step) -> None:
        self._steps = [root]
        self._firsts: dict[int, int] = {}
        self._symbols: list[tuple[int, int]] = []
        self._texts = bytearray()
        self._rows = []
        for step in self._steps:  # which grows meanwhile
            self._rows.append(self._row(step))

    def nodes(self) -> AvroNodes:
        """Return what was made of the steps."""
        return AvroNodes(
            table=np.array([[row.get(word, 0) for word in NodeWord] for row in self._rows], np.int64),
            symbols=np.array([*self._symbols, _WITHOUT_TEXT], np.int64),
            texts=np.frombuffer(bytes(self._texts) + bytes(SPARE_BYTES), np.uint8),
        )

    def _row(self, step: Step) -> dict[NodeWord, int]:
        row = {
            NodeWord.FORM: int(step.form),
            NodeWord.COLUMN: step.column,
            NodeWord.FIRST: self._first(step),
            NodeWord.COUNT: len(step.children),
            NodeWord.SIZE: step.size,
            NodeWord.NUMBER: int(step.number),
            NodeWord.FACTOR: step.factor,
            NodeWord.SCALE: step.scale,
        }
        if step.form == Form.ENUM:
            row |= {NodeWord.FIRST: len(self._symbols), NodeWord.COUNT: len(step.symbols)}
            self._symbols += [_WITHOUT_TEXT if each is None else self._text(each.encode()) for each in step.symbols]
        elif step.form == Form.DEFAULT:
            at, size = self._text(step.content)
            row |= {NodeWord.AT: at, NodeWord.SIZE: size}
        return row

    def _first(self, step: Step) -> int:
        """Return where the children of a step begin."""
        if not step.children:
            return 0
        if id(step) not in self._firsts:
            self._firsts[id(step)] = len(self._steps)
            self._steps += step.children
        return self._firsts[id(step)]

    def _text(self, content: bytes) -> tuple[int, int]:
        self._texts += content
        return len(self._texts) - len(content), len(content)
