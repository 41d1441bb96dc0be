"""What the reader of a binlog range reports to the driver at its end: all that planning needs from there on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from datasources.mysql.binlog import BinlogPosition
from datasources.mysql.state.mysql_state import position_from_json, position_to_json
from datasources.mysql.tables.chunk_key import TableName


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeReport:
    """The end of a range.

    Attributes:
        position: file and position.
        gtids: the transactions of the range, as a set's text; empty = they have no GTIDs.
        prepared: the XA transactions that are open there.
        again: the tables to read again, because a statement changed rows without row events.
        server: where it was read, as `MySqlState.server`; positions are those of its binlog.
    """

    position: BinlogPosition
    gtids: str
    prepared: Mapping[str, BinlogPosition]
    again: tuple[TableName, ...] = ()
    server: str

    def to_text(self) -> str:
        """Return JSON; equal reports have equal texts."""
        prepared = {xid: position_to_json(position) for xid, position in self.prepared.items()}
        raw: dict[str, Any] = {"place": position_to_json(self.position), "gtids": self.gtids, "prepared": prepared}
        raw["server"] = self.server
        if self.again:
            raw["again"] = [list(table) for table in sorted(self.again)]
        return json.dumps(raw, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> RangeReport:
        """Return the report in a text of `to_text`."""
        raw = json.loads(text)
        position = position_from_json(raw["place"])
        assert position is not None
        prepared = {xid: position_from_json(each) for xid, each in raw["prepared"].items()}
        return cls(
            position=position,
            gtids=raw["gtids"],
            prepared={x: p for x, p in prepared.items() if p is not None},
            again=tuple((str(database), str(table)) for database, table in raw.get("again", [])),
            server=str(raw["server"]),
        )
