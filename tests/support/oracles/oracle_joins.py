"""Two streams with Flink SQL's answers to joins of them (tests/golden/oracle/joins_*.json)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.support.project import ROOT
from tests.support.spark.scripted_stream import Scripts, instant

__all__ = ["EV_SCHEMA", "JOIN_CASES", "RATES_SCHEMA", "JoinCase", "load_join_case"]

JOIN_CASES: Final = ("joins_01", "joins_03")
EV_SCHEMA: Final = "id INT, k INT, v INT, ts TIMESTAMP"
RATES_SCHEMA: Final = "rid INT, k INT, rate INT, ts TIMESTAMP"

_DIRECTORY: Final = ROOT / "tests" / "golden" / "oracle"


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinCase:
    """Rows in the order of arrival, ts in ms: ev (id, k, v, ts), rates (rid, k, rate, ts) with the key k.

    `queries` and `answers` by the query's name: Flink SQL, and its rows in one order.
    """

    watermark: str
    ev: tuple[tuple[int, int, int, int], ...]
    rates: tuple[tuple[int, int, int, int], ...]
    queries: Mapping[str, str]
    answers: Mapping[str, list[tuple[Any, ...]]]

    def write(self, directory: Path) -> tuple[Scripts, Scripts]:
        """Write both streams as scripts, once; return them."""
        ev = Scripts(directory / "ev", schema=EV_SCHEMA)
        rates = Scripts(directory / "rates", schema=RATES_SCHEMA)
        if not list(ev.directory.iterdir()):
            ev.append("s-0", *(_record(("id", "k", "v"), row) for row in self.ev))
            rates.append("s-0", *(_record(("rid", "k", "rate"), row) for row in self.rates))
        return ev, rates

    def loaded(self, spark: Any, directory: Path, rows_per_batch: int) -> tuple[Any, Any]:
        """Return ev and rates as loaded streams that end."""
        options = {
            "watermark.as": self.watermark,
            "scan.watermark.emit.strategy": "on-event",
            "scan.max-rows-per-batch": rows_per_batch,
            "scripted.bounded": "true",
        }
        ev, rates = self.write(directory)
        return ev.loaded(spark, options), rates.loaded(spark, options)


def load_join_case(name: str) -> JoinCase:
    """Read a case, `joins_01`."""
    raw = json.loads((_DIRECTORY / f"{name}.json").read_text(encoding="utf-8"))
    return JoinCase(
        watermark=raw["watermark"],
        ev=tuple(tuple(row) for row in raw["ev"]),
        rates=tuple(tuple(row) for row in raw["rates"]),
        queries={query: answer["sql"] for query, answer in raw["queries"].items()},
        answers={
            query: sorted((tuple(values) for _, values in answer["rows"]), key=repr)
            for query, answer in raw["queries"].items()
        },
    )


def _record(names: tuple[str, ...], row: tuple[int, ...]) -> dict[str, Any]:
    *values, ms = row
    return {**dict(zip(names, values, strict=True)), "ts": instant(ms / 1_000)}
