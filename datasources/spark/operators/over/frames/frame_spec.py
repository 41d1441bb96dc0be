"""The definition of `agg(...) OVER (PARTITION BY k ORDER BY ts ROWS | RANGE BETWEEN ... PRECEDING AND CURRENT ROW)`."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import pyarrow as pa


class Unit(enum.Enum):
    """Unit of the frame."""

    ROWS = "ROWS"
    RANGE = "RANGE"


@dataclass(frozen=True, slots=True, kw_only=True)
class OverFrame:
    """Frame of a row. It ends at the row; with RANGE, at the last row of equal time.

    Attributes:
        unit: rows, or time.
        preceding: how many rows, or how many µs; None = UNBOUNDED.
    """

    unit: Unit
    preceding: int | None = None

    @classmethod
    def rows(cls, preceding: int | None = None) -> OverFrame:
        """ROWS BETWEEN `preceding` (None: UNBOUNDED) PRECEDING AND CURRENT ROW."""
        return cls(unit=Unit.ROWS, preceding=preceding)

    @classmethod
    def range(cls, preceding_ms: int | None = None) -> OverFrame:
        """RANGE BETWEEN `preceding_ms` ms (None: UNBOUNDED) PRECEDING AND CURRENT ROW."""
        return cls(unit=Unit.RANGE, preceding=None if preceding_ms is None else preceding_ms * 1_000)

    @property
    def shown(self) -> str:
        """The frame in SQL."""
        length = "UNBOUNDED" if self.preceding is None else str(self.preceding)
        if self.unit is Unit.RANGE and self.preceding is not None:
            seconds = f"{self.preceding / 1_000_000:.6f}".rstrip("0").rstrip(".")
            length = f"INTERVAL '{seconds}' SECOND"
        return f"{self.unit.value} BETWEEN {length} PRECEDING AND CURRENT ROW"

    @property
    def is_bounded(self) -> bool:
        """Whether the frame has a lower bound."""
        return self.preceding is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverAggregate:
    """An aggregate over the frame.

    Attributes:
        function: SUM, COUNT, AVG, MIN, MAX, FIRST_VALUE, LAST_VALUE or ROW_NUMBER.
        argument: the argument column; None for COUNT(*) and ROW_NUMBER().
        name: of the result.
        argument_type: type of that column; undefined without one.
        result_type: Spark's type of the result.
        ignores_nulls: FIRST_VALUE and LAST_VALUE with IGNORE NULLS.
    """

    function: str
    argument: str | None
    name: str
    argument_type: pa.DataType
    result_type: pa.DataType
    ignores_nulls: bool = False

    @property
    def shown(self) -> str:
        """Definition of the aggregate, as stored with the state."""
        nulls = " IGNORE NULLS" if self.ignores_nulls else ""
        return f"{self.name}: {self.function}({self.argument or ''}){nulls} of {self.argument_type}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OverRule:
    """The rule of an operator.

    Attributes:
        keys: the columns of PARTITION BY.
        frame: of every row.
        aggregates: over that frame, at least one.
        helpers: columns that only the aggregates need, dropped from the result.
        ttl_us: a gap between rows of a key longer than this starts the key anew, µs; None = never.
        exact: compare each row with its own row watermark; otherwise with the watermark before the micro-batch.
        is_processing_time: ORDER BY processing time: rows fire at once and are never late.
    """

    keys: tuple[str, ...]
    frame: OverFrame
    aggregates: tuple[OverAggregate, ...]
    helpers: tuple[str, ...] = ()
    ttl_us: int | None = None
    exact: bool = True
    is_processing_time: bool = False

    @property
    def arguments(self) -> tuple[str, ...]:
        """The argument columns, each once."""
        return tuple(dict.fromkeys(each.argument for each in self.aggregates if each.argument is not None))

    @property
    def carries(self) -> bool:
        """Whether a key keeps partial results (UNBOUNDED PRECEDING) instead of rows."""
        return not self.frame.is_bounded
