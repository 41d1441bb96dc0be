"""What a side is asked to read, and the names of the sides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, Self

__all__ = ["COPY", "DEBEZIUM", "FLINK_CDC", "SIDES", "SOURCE", "SYNC", "BinlogRead"]

SYNC: Final = "tidemark sync"
SOURCE: Final = "tidemark"
FLINK_CDC: Final = "flink cdc"
DEBEZIUM: Final = "debezium engine"
SIDES: Final = {
    SYNC: "tidemark",
    SOURCE: "tidemark",
    FLINK_CDC: "flink",
    DEBEZIUM: "debezium",
}
"""Each side, and the process that runs it."""
COPY: Final = "copy"
"""A first copy of all tables, which is not measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BinlogRead:
    """One reading.

    Attributes:
        side: one of SIDES, or COPY.
        host, port, user, password: of the server.
        database: has the tables.
        directory: of the benchmark; a side may write files there.
        lake: directory of the copies.
        file, position, gtids: where the binlog begins that is read, and the transactions before.
        changes: the number of changed rows in it.
        images: the number of rows of a changelog of it.
    """

    side: str
    host: str
    port: int
    user: str
    password: str
    database: str
    directory: str
    lake: str = ""
    file: str = ""
    position: int = 0
    gtids: str = ""
    changes: int = 0
    images: int = 0

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Return what `dataclasses.asdict` made these values of."""
        return cls(**values)

    def of(self, **changes: Any) -> Self:
        """Return it with changes."""
        return replace(self, **changes)
