"""The split reader: lines [start, end) of one script as Arrow columns."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from datasources.errors import DataLossError
from datasources.formats.api.error_policy import OnError, PolicyResult, apply_policy
from datasources.scripted.enumerator import SUFFIX
from datasources.source.api.reader import Chunk, ReadCounts
from datasources.source.api.split import SplitId

METADATA_TYPES: Final[Mapping[str, pa.DataType]] = {"split": pa.string(), "position": pa.int64()}
"""The keys of metadata columns: the script's name, and the number of the line, counted from 0."""

_CHUNK_ROWS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReaderFactory:
    """Everything a task needs to read; picklable.

    ``metadata`` columns come behind those of the records, name -> key; only ``columns`` are decoded, of their
    STRUCTs only the fields that they have, the rest is null, None = all.
    """

    directory: str
    records: pa.Schema
    on_error: OnError
    time_zone: str | None
    metadata: Mapping[str, str] = field(default_factory=dict)
    columns: pa.Schema | None = None

    @property
    def schema(self) -> pa.Schema:
        """The columns of a chunk."""
        provided = [pa.field(name, METADATA_TYPES[key]) for name, key in self.metadata.items()]
        return pa.schema([*self.records, *provided])

    def open(self, *, only: frozenset[str] | None = None) -> ScriptedReader:
        """Return a reader."""
        return ScriptedReader(self, only)


class ScriptedReader:
    """Reads ranges of scripts."""

    def __init__(self, factory: ScriptedReaderFactory, only: frozenset[str] | None) -> None:
        from datasources.formats.json.json_format import JsonDecoder

        self._factory = factory
        decoded = factory.records if factory.columns is None else factory.columns
        columns = [f for f in decoded if f.name in factory.records.names and (only is None or f.name in only)]
        self._decoder = JsonDecoder(factory.records, time_zone=factory.time_zone, columns=tuple(columns))
        self._schema = factory.schema

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

        def describe_row(index: int) -> str:
            return f"script '{split}', line {first + index + 1}"

        result = apply_policy(decoded, self._factory.on_error, describe_row)
        counts = ReadCounts(bad=result.bad_rows, null_value=result.null_value_rows)

        def counts_before(row: int) -> ReadCounts:
            bad, null_value = result.counts_before(row)
            return ReadCounts(bad=bad, null_value=null_value)

        return Chunk(
            columns=self._with_metadata(result, split, first),
            counts=counts,
            describe_row=lambda row: describe_row(result.input_row(row)),
            position=lambda row: first + result.input_row(row),
            counts_before=counts_before,
        )

    def _with_metadata(self, result: PolicyResult, split: SplitId, first: int) -> pa.RecordBatch:
        if not self._factory.metadata:
            return result.columns
        rows = result.columns.num_rows
        lines = np.arange(rows) if result.has_rows is None else np.flatnonzero(result.has_rows)
        provided = {"split": pa.repeat(pa.scalar(str(split)), rows), "position": pa.array(lines + first, pa.int64())}
        added = [provided[key] for key in self._factory.metadata.values()]
        return pa.RecordBatch.from_arrays([*result.columns.columns, *added], schema=self._schema)
