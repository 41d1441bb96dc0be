"""The events of Nexmark's auction: persons, auctions and bids, in one topic and as tables."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

import pyarrow as pa

__all__ = ["TABLE", "VIEWS", "AuctionEvents"]

_START: Final = datetime(2026, 3, 1, 23, 50)
_TIME: Final = "TIMESTAMP(3)"
_FIELDS: Final = {
    "person": {
        "id": "BIGINT", "name": "VARCHAR", "emailAddress": "VARCHAR", "creditCard": "VARCHAR", "city": "VARCHAR",
        "state": "VARCHAR", "dateTime": _TIME, "extra": "VARCHAR",
    },
    "auction": {
        "id": "BIGINT", "itemName": "VARCHAR", "description": "VARCHAR", "initialBid": "BIGINT", "reserve": "BIGINT",
        "dateTime": _TIME, "expires": _TIME, "seller": "BIGINT", "category": "BIGINT", "extra": "VARCHAR",
    },
    "bid": {
        "auction": "BIGINT", "bidder": "BIGINT", "price": "BIGINT", "channel": "VARCHAR", "url": "VARCHAR",
        "dateTime": _TIME, "extra": "VARCHAR",
    },
}  # fmt: skip
_ARROW: Final = {"BIGINT": pa.int64(), "VARCHAR": pa.string(), _TIME: pa.timestamp("ms")}


def _row(fields: dict[str, str]) -> str:
    return "ROW<" + ", ".join(f"`{name}` {kind}" for name, kind in fields.items()) + ">"


TABLE: Final = (
    "CREATE TABLE kafka (event_type INT, "
    + ", ".join(f"{name} {_row(fields)}" for name, fields in _FIELDS.items())
    + ", `dateTime` AS CASE WHEN event_type = 0 THEN person.`dateTime` WHEN event_type = 1 THEN auction.`dateTime` "
    "ELSE bid.`dateTime` END, WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND) WITH ('connector' = 'kafka', "
    "'topic' = '{topic}', 'properties.bootstrap.servers' = '{servers}', 'scan.startup.mode' = 'earliest-offset', "
    "'format' = 'json')"
)
"""The table of the events, with {topic} and {servers}."""

VIEWS: Final = [
    f"CREATE VIEW {name} AS SELECT "
    + ", ".join("`dateTime`" if each == "dateTime" else f"{name}.{each}" for each in fields)
    + f" FROM kafka WHERE event_type = {number}"
    for number, (name, fields) in enumerate(_FIELDS.items())
]
"""Persons, auctions and bids as views of it."""


@dataclass(slots=True)
class AuctionEvents:
    """Generated events in order of time.

    Two bids of one auction differ in price and time, so that the first ones of a ranking are known.

    Attributes:
        rows: of each table.
        records: the values of the topic.
    """

    rng: random.Random
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: {name: [] for name in _FIELDS})
    records: list[bytes] = field(default_factory=list)

    def add(self, count: int) -> list[bytes]:
        """Add events and return their records."""
        before = len(self.records)
        for _ in range(count):
            self._add(self.rng.choices(list(_FIELDS), (1, 3, 16))[0] if self.rows["auction"] else "auction")
        return self.records[before:]

    def tables(self) -> dict[str, pa.Table]:
        """Return the tables."""
        return {
            name: pa.Table.from_pylist(
                self.rows[name], pa.schema([(each, _ARROW[kind]) for each, kind in fields.items()])
            )
            for name, fields in _FIELDS.items()
        }

    def _add(self, name: str) -> None:
        number = len(self.records)
        at = _START + timedelta(milliseconds=700 * number)
        row = {each: self._value(each, number) for each in _FIELDS[name]} | {"dateTime": at}
        if name == "auction":
            row["expires"] = at + timedelta(seconds=self.rng.randrange(5, 60))
        self.rows[name].append(row)
        shown = {each: value.isoformat(" ", "milliseconds") if isinstance(value, datetime) else value
                 for each, value in row.items()}  # fmt: skip
        document = {"event_type": list(_FIELDS).index(name), "person": None, "auction": None, "bid": None, name: shown}
        self.records.append(json.dumps(document).encode())

    def _value(self, name: str, number: int) -> Any:
        rng = self.rng
        if name == "auction":
            return rng.choice(self.rows["auction"][-8:])["id"]
        values = {
            "id": number,
            "price": rng.choice((5_000, 50_000, 2_000_000)) + number,
            "seller": rng.randrange(6),
            "bidder": rng.randrange(6),
            "category": rng.choice((10, 11, 12)),
            "initialBid": rng.randrange(1_000),
            "reserve": rng.randrange(1_000),
        }
        return values.get(name, f"{name}-{rng.randrange(4)}")
