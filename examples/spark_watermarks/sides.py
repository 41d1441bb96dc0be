"""The same rows for both sides.

Spark's side reads JSON files with Spark's own file source and `withWatermark`: no code of ours is in its query.
Tidemark's side reads the same rows with `tidemark-scripted`. A *partition* is what a Kafka partition would be: rows in
order of arrival. Spark's side names it in the file only, because Spark's watermark does not know partitions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from datasources import read_stream

__all__ = ["DAY", "DELAY", "Arrival", "Side", "SparkSide", "Stage", "TidemarkSide", "every_second"]

DAY = "2025-01-01"
"""The day of all rows that name a time only."""

DELAY = "10 seconds"
"""How far the watermark is behind the newest row, on both sides."""

Arrival = tuple[str, str] | tuple[str, str, str]
"""A row: when it happened (`12:00:05`, or a date and a time), its key, and its value where that matters."""

_SCHEMA = "ts TIMESTAMP, k STRING, v STRING"
_numbers = count()


class Side(Protocol):
    """Where the rows of a claim go, and the stream that reads them."""

    def put(self, partition: str, *rows: Arrival) -> None:
        """Let rows arrive in a partition, together."""
        ...

    def stream(self) -> DataFrame:
        """Return the stream with its watermark, DELAY behind."""
        ...


@dataclass(frozen=True, slots=True)
class SparkSide:
    """Spark as it comes: its file source and its `withWatermark`."""

    spark: SparkSession
    directory: Path

    def put(self, partition: str, *rows: Arrival) -> None:
        """Add one file, which appears as a whole."""
        name = f"{next(_numbers):06d}-{partition}.json"
        hidden = self.directory / f"_{name}"
        hidden.write_text(_lines(rows), encoding="utf-8")
        hidden.rename(self.directory / name)

    def stream(self) -> DataFrame:
        """Return the stream with Spark's watermark."""
        return self.spark.readStream.schema(_SCHEMA).json(str(self.directory)).withWatermark("ts", DELAY)


@dataclass(frozen=True, slots=True)
class TidemarkSide:
    """The same with Tidemark: every partition is a split of its own."""

    spark: SparkSession
    directory: Path
    options: Mapping[str, str] = field(default_factory=dict)

    def put(self, partition: str, *rows: Arrival) -> None:
        """Append lines to the partition's file; without rows the partition only exists from now on."""
        with (self.directory / f"{partition}.jsonl").open("a", encoding="utf-8") as script:
            script.write(_lines(rows))

    def stream(self) -> DataFrame:
        """Return the stream with the reader's watermark."""
        options = {
            "path": str(self.directory),
            "schema": _SCHEMA,
            "watermark.for": "ts",
            "watermark.as": "ts - INTERVAL '10' SECOND",
            **self.options,
        }
        return read_stream(self.spark, "tidemark-scripted", options)


@dataclass(frozen=True, slots=True)
class Stage:
    """The environment of a proof: a session, and directories for its files.

    Attributes:
        spark: A classic session.
        directory: An existing directory that belongs to the proof.
    """

    spark: SparkSession
    directory: Path

    def spark_side(self) -> SparkSide:
        """Return a new, empty source of Spark's own."""
        return SparkSide(self.spark, self.place("files"))

    def tidemark_side(self, options: Mapping[str, str] | None = None) -> TidemarkSide:
        """Return a new, empty source of Tidemark's, with additional options."""
        return TidemarkSide(self.spark, self.place("scripts"), options or {})

    def place(self, kind: str) -> Path:
        """Return a new directory, for the files of a source or for a checkpoint."""
        place = self.directory / f"{kind}-{next(_numbers)}"
        place.mkdir()
        return place


def every_second(minute: str, seconds: int, key: str) -> list[Arrival]:
    """Return one row per second from the start of a minute: `every_second("12:00", 3, "a")`."""
    return [(f"{minute}:{second:02d}", key) for second in range(seconds)]


def _lines(rows: tuple[Arrival, ...]) -> str:
    return "".join(json.dumps(_record(*row)) + "\n" for row in rows)


def _record(ts: str, k: str, v: str = "") -> dict[str, str]:
    return {"ts": f"{ts}Z" if "T" in ts else f"{DAY}T{ts}Z", "k": k, "v": v}
