"""Streams with Flink SQL's own answers (tests/golden/oracle): what rows came, what each query must give."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from tests.support.project import ROOT
from tests.support.spark.scripted_stream import Scripts

__all__ = ["CASES", "SCHEMA", "Answer", "Arrival", "OracleCase", "load_case", "normal", "normal_rows", "oracle_stream"]

CASES: Final = ("stream_00", "stream_03", "stream_05")
SCHEMA: Final = "id INT, k INT, v INT, ts TIMESTAMP, flag INT"

_DIRECTORY: Final = ROOT / "tests" / "golden" / "oracle"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A row of the one split, in the order of arrival; ts in ms since the epoch."""

    id: int
    k: int
    v: int
    ts: int
    flag: int

    @property
    def record(self) -> dict[str, Any]:
        """The row as a record of the scripted source."""
        instant = (_EPOCH + timedelta(milliseconds=self.ts)).isoformat(timespec="milliseconds")
        return {"id": self.id, "k": self.k, "v": self.v, "ts": instant.replace("+00:00", "Z"), "flag": self.flag}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A query and what Flink gave: rows as (kind, values), in no order; times as Flink writes them."""

    sql: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Any, ...]], ...]

    @property
    def inserted(self) -> list[tuple[Any, ...]]:
        """The rows of an answer without updates, in a fixed order."""
        assert {kind for kind, _ in self.rows} <= {"+I"}
        return sorted((values for _, values in self.rows), key=repr)


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleCase:
    """A stream with its watermark expression, emitted on event, and the answers by query name."""

    name: str
    watermark: str
    rows: tuple[Arrival, ...]
    answers: Mapping[str, Answer]


def load_case(name: str) -> OracleCase:
    """Read a case, `stream_00`."""
    raw = json.loads((_DIRECTORY / f"{name}.json").read_text(encoding="utf-8"))
    names = ("id", "k", "v", "ts", "flag")
    return OracleCase(
        name=name,
        watermark=raw["watermark"],
        rows=tuple(Arrival(**dict(zip(names, row, strict=True))) for row in raw["rows"]),
        answers={query: _answer(answer) for query, answer in raw["queries"].items()},
    )


def oracle_stream(spark: Any, path: Path, name: str, rows_per_batch: int) -> Any:
    """Return the rows of a case as a loaded stream that ends, in batches of so many rows."""
    case = load_case(name)
    scripts = Scripts(path / "scripts", schema=SCHEMA)
    if not list(scripts.directory.iterdir()):
        scripts.append("s-0", *(row.record for row in case.rows))
    options = {
        "watermark.as": case.watermark,
        "scan.watermark.emit.strategy": "on-event",
        "scan.max-rows-per-batch": rows_per_batch,
        "scripted.bounded": "true",
    }
    return scripts.loaded(spark, options)


def _answer(raw: Mapping[str, Any]) -> Answer:
    return Answer(
        sql=raw["sql"],
        columns=tuple(raw["columns"]),
        rows=tuple((kind, tuple(values)) for kind, values in raw["rows"]),
    )


def normal(value: Any) -> Any:
    """A value as answers hold it: times without zone, seconds left out when they are 0; a number is an instant's not."""
    if not isinstance(value, datetime):
        return value
    naive = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
    return naive.isoformat().removesuffix(":00") if naive.second == 0 and not naive.microsecond else naive.isoformat()


def normal_rows(rows: Iterable[Iterable[Any]]) -> list[tuple[Any, ...]]:
    """Rows of a result as `Answer.inserted` gives them; TIMESTAMP columns must come as UTC or wall clock."""
    return sorted((tuple(map(normal, row)) for row in rows), key=repr)
