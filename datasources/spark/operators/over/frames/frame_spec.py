"""What `agg(...) OVER (PARTITION BY k ORDER BY ts ROWS | RANGE BETWEEN ... PRECEDING AND CURRENT ROW)` asks for."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import pyarrow as pa

__all__ = ["OverAggregate", "OverFrame", "OverRule", "Unit"]


class Unit(enum.Enum):
    """What the frame is counted in."""

    ROWS = "ROWS"
    RANGE = "RANGE"


@dataclass(frozen=True, slots=True, kw_only=True)
class OverFrame:
    """From where the frame of a row reaches; it ends at the row, with RANGE at the last row of equal time.

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
        """As SQL writes it."""
        length = "UNBOUNDED" if self.preceding is None else str(self.preceding)
        if self.unit is Unit.RANGE and self.preceding is not None:
            seconds = f"{self.preceding / 1_000_000:.6f}".rstrip("0").rstrip(".")
            length = f"INTERVAL '{seconds}' SECOND"
        return f"{self.unit.value} BETWEEN {length} PRECEDING AND CURRENT ROW"

    @property
    def is_bounded(self) -> bool:
        """Whether the frame has a beginning."""
        return self.preceding is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverAggregate:
    """An aggregate over the frame.

    Attributes:
        function: SUM, COUNT, AVG, MIN, MAX, FIRST_VALUE, LAST_VALUE or ROW_NUMBER.
        argument: the column that it is of; None for COUNT(*) and ROW_NUMBER().
        name: of the result.
        argument_type: type of that column; of no meaning without one.
        result_type: type of the result, Spark's.
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
        """What it is and of what, as the state remembers it."""
        nulls = " IGNORE NULLS" if self.ignores_nulls else ""
        return f"{self.name}: {self.function}({self.argument or ''}){nulls} of {self.argument_type}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OverRule:
    """The rule of an operator.

    Attributes:
        keys: the columns of PARTITION BY.
        frame: of every row.
        aggregates: over that frame, at least one.
        helpers: columns that only the aggregates need, left out of the result.
        ttl_us: a key begins anew where its rows are more than this apart, µs; None = never.
        exact: judge each row by its own stamp; else the rows of a batch together, by the watermark before it.
        is_processing_time: ORDER BY a processing time: nothing waits and nothing is late.
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
        """The columns that aggregates are of, each once."""
        return tuple(dict.fromkeys(each.argument for each in self.aggregates if each.argument is not None))

    @property
    def carries(self) -> bool:
        """Whether a key keeps results so far (UNBOUNDED PRECEDING) instead of rows."""
        return not self.frame.is_bounded
