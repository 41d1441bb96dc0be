"""The executors' side: lines [start, end) of one script as Arrow columns."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from datasources.errors import DataLossError
from datasources.formats.policy import OnError, apply_policy
from datasources.scripted.enumerator import SUFFIX
from datasources.source.reader import Chunk, ReadCounts
from datasources.source.split import SplitId

__all__ = ["ScriptedReader", "ScriptedReaderFactory"]

_CHUNK_ROWS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReaderFactory:
    """Everything a task needs to read; picklable."""

    directory: str
    schema: pa.Schema
    on_error: OnError
    time_zone: str | None

    def open(self, *, only: frozenset[str] | None = None) -> ScriptedReader:
        """Return a reader."""
        return ScriptedReader(self, only)


class ScriptedReader:
    """Reads ranges of scripts."""

    def __init__(self, factory: ScriptedReaderFactory, only: frozenset[str] | None) -> None:
        from datasources.formats.json import JsonDecoder

        self._factory = factory
        columns = None if only is None else tuple(f.name for f in factory.schema if f.name in only)
        self._decoder = JsonDecoder(factory.schema, time_zone=factory.time_zone, columns=columns)

    def read(self, split: SplitId, start_inclusive: int, end_exclusive: int) -> Iterator[Chunk]:
        """Yield the rows of a range of lines."""
        file = Path(self._factory.directory) / f"{split}{SUFFIX}"
        position = start_inclusive
        with file.open("rb") as stream:
            lines = itertools.islice(stream, start_inclusive, end_exclusive)
            while values := [line.rstrip(b"\n") for line in itertools.islice(lines, _CHUNK_ROWS)]:
                yield self._chunk(values, split, position)
                position += len(values)
        if position < end_exclusive:
            raise DataLossError(f"script '{split}' has {position} lines, but the batch reads up to {end_exclusive}.")

    def close(self) -> None:
        """Nothing is held between ranges."""

    def _chunk(self, values: list[bytes], split: SplitId, first: int) -> Chunk:
        decoded = self._decoder.decode(pa.array(values, type=pa.binary()))

        def place(index: int) -> str:
            return f"script '{split}', line {first + index + 1}"

        result = apply_policy(decoded, self._factory.on_error, place)
        counts = ReadCounts(bad=result.bad_rows, null_value=result.null_value_rows)

        def counts_before(row: int) -> ReadCounts:
            bad, null_value = result.counts_before(row)
            return ReadCounts(bad=bad, null_value=null_value)

        return Chunk(
            columns=result.columns,
            counts=counts,
            place=lambda row: place(result.input_row(row)),
            position=lambda row: first + result.input_row(row),
            counts_before=counts_before,
        )
