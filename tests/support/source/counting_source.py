"""The scripted source with a log of what was read: whether reading costs what it should.

Executors get it by value: their processes cannot import the tests.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from pyspark import cloudpickle

from datasources.scripted.data_source import ScriptedDataSource
from datasources.scripted.reader import ScriptedReader, ScriptedReaderFactory
from datasources.scripted.source import ScriptedSource
from datasources.source.api.connector import ScanSource
from datasources.source.api.reader import Chunk
from datasources.source.api.split import SplitId
from datasources.spark.attach.read_stream import load_stream
from datasources.spark.attach.register import register_formats
from tests.support.spark.scripted_stream import Scripts

__all__ = ["CountingDataSource", "Read", "counted_stream", "reads_of"]

cloudpickle.register_pickle_by_value(sys.modules[__name__])

_LOG = "reads.log"


class Read(NamedTuple):
    """One range of one split that somebody read; `rows` of it were taken."""

    split: str
    start: int
    end: int
    rows: int


class CountingReader(ScriptedReader):
    """Notes every range when its reading ends, by itself or because the consumer stopped."""

    def __init__(self, factory: ScriptedReaderFactory, only: frozenset[str] | None) -> None:
        super().__init__(factory, only)
        self._log = Path(factory.directory) / _LOG

    def read(self, split: SplitId, start_inclusive: int, end_exclusive: int) -> Iterator[Chunk]:
        rows = 0
        try:
            for chunk in super().read(split, start_inclusive, end_exclusive):
                rows += chunk.columns.num_rows
                yield chunk
        finally:
            with self._log.open("a", encoding="utf-8") as log:  # one short line: appended in one piece
                log.write(f"{split} {start_inclusive} {end_exclusive} {rows}\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class CountingReaderFactory(ScriptedReaderFactory):
    """Opens counting readers."""

    def open(self, *, only: frozenset[str] | None = None) -> ScriptedReader:
        return CountingReader(self, only)


@dataclass(frozen=True, kw_only=True)
class CountingSource(ScriptedSource):
    """The scripted source under another name."""

    format_name: ClassVar[str] = "tidemark-counted"

    def reader_factory(self) -> ScriptedReaderFactory:
        factory = self.factory
        return CountingReaderFactory(**{f.name: getattr(factory, f.name) for f in fields(factory)})


class CountingDataSource(ScriptedDataSource):
    """Its format."""

    connector: ClassVar[type[ScanSource]] = CountingSource


def counted_stream(spark: Any, scripts: Scripts, changes: dict[str, Any] | None = None) -> Any:
    """An attached stream whose reads are counted."""
    register_formats(spark, [CountingDataSource])
    return load_stream(spark, CountingDataSource, scripts.options(changes), None)


def reads_of(scripts: Scripts) -> list[Read]:
    """What was read so far, in the order in which reading ended."""
    log = scripts.directory / _LOG
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [Read(split, int(start), int(end), int(rows)) for split, start, end, rows in map(str.split, lines)]
