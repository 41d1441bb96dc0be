"""What the user asked for: a value that can be compared, pickled and stored, and that builds the moving parts."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from watermark.emission import EmitStrategy
from watermark.event_time import NANOS_PER_MICRO
from watermark.idleness import IdlenessTimer
from watermark.reference.alignment import AlignmentParams
from watermark.reference.generators import (
    Ascending,
    BoundedOutOfOrderness,
    ExpressionValues,
    NoWatermarks,
    ProcessingTimeGenerator,
    WatermarkGenerator,
)

__all__ = ["GeneratorKind", "WatermarkStrategy"]


class GeneratorKind(enum.Enum):
    """Which generator a strategy builds for each split."""

    BOUNDED_OUT_OF_ORDERNESS = "bounded-out-of-orderness"
    ASCENDING = "ascending"
    EXPRESSION_VALUES = "expression-values"
    NONE = "none"
    PROCESSING_TIME = "processing-time"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatermarkStrategy:
    """How the watermarks of a source are made. Start from a ``for_...`` factory; each ``with_...`` returns a copy.

    Source: Flink's WatermarkStrategy.

    Attributes:
        kind: The generator.
        out_of_orderness_us: The bound of BOUNDED_OUT_OF_ORDERNESS, else 0.
        emit: When watermarks are combined.
        idle_timeout_us: Silence after which a split is idle; ``None``: never.
        alignment: The alignment group; ``None``: not aligned.

    Example:
        >>> strategy = WatermarkStrategy.for_expression_values().with_idleness(60_000_000)
        >>> strategy.with_emit_strategy(EmitStrategy.ON_EVENT).emit.value
        'on-event'
    """

    kind: GeneratorKind
    out_of_orderness_us: int = 0
    emit: EmitStrategy = EmitStrategy.ON_PERIODIC
    idle_timeout_us: int | None = None
    alignment: AlignmentParams | None = None

    def __post_init__(self) -> None:
        """Check by building each part once, so that a strategy that exists also works."""
        self.create_generator()
        self.create_idleness_timer(now_ns=0)

    @classmethod
    def for_bounded_out_of_orderness(cls, bound_us: int) -> WatermarkStrategy:
        """Return a strategy for rows that are at most ``bound_us`` older than the newest one before them.

        Raises:
            InvalidStrategy: The bound is negative.
        """
        return cls(kind=GeneratorKind.BOUNDED_OUT_OF_ORDERNESS, out_of_orderness_us=bound_us)

    @classmethod
    def for_ascending(cls) -> WatermarkStrategy:
        """Return a strategy for splits whose event times never decrease."""
        return cls(kind=GeneratorKind.ASCENDING)

    @classmethod
    def for_expression_values(cls) -> WatermarkStrategy:
        """Return a strategy that takes the values of a watermark expression, null meaning "no watermark"."""
        return cls(kind=GeneratorKind.EXPRESSION_VALUES)

    @classmethod
    def punctuated(cls) -> WatermarkStrategy:
        """Return a strategy for marker rows: expression values, emitted with the row that carries them."""
        return cls(kind=GeneratorKind.EXPRESSION_VALUES, emit=EmitStrategy.ON_EVENT)

    @classmethod
    def none(cls) -> WatermarkStrategy:
        """Return the strategy of a stream without event time."""
        return cls(kind=GeneratorKind.NONE)

    @classmethod
    def processing_time(cls) -> WatermarkStrategy:
        """Return the strategy of a stream whose event time is the wall clock."""
        return cls(kind=GeneratorKind.PROCESSING_TIME)

    def with_emit_strategy(self, emit: EmitStrategy) -> WatermarkStrategy:
        """Return a copy with another moment of emission."""
        return replace(self, emit=emit)

    def with_idleness(self, timeout_us: int) -> WatermarkStrategy:
        """Return a copy whose splits are idle after ``timeout_us`` without activity.

        Raises:
            InvalidStrategy: The timeout is not positive.
        """
        return replace(self, idle_timeout_us=timeout_us)

    def with_alignment(self, alignment: AlignmentParams) -> WatermarkStrategy:
        """Return a copy that takes part in an alignment group."""
        return replace(self, alignment=alignment)

    def create_generator(self) -> WatermarkGenerator:
        """Return a new generator for one split."""
        return _GENERATORS[self.kind](self)

    def create_idleness_timer(self, *, now_ns: int, elapsed_ns: int = 0) -> IdlenessTimer | None:
        """Return a new idleness timer for one split; ``None`` if splits never fall idle by themselves."""
        if self.idle_timeout_us is None:
            return None
        return IdlenessTimer(self.idle_timeout_us * NANOS_PER_MICRO, now_ns=now_ns, elapsed_ns=elapsed_ns)


_GENERATORS: Final[Mapping[GeneratorKind, Callable[[WatermarkStrategy], WatermarkGenerator]]] = MappingProxyType(
    {
        GeneratorKind.BOUNDED_OUT_OF_ORDERNESS: lambda strategy: BoundedOutOfOrderness(strategy.out_of_orderness_us),
        GeneratorKind.ASCENDING: lambda _: Ascending(),
        GeneratorKind.EXPRESSION_VALUES: lambda _: ExpressionValues(),
        GeneratorKind.NONE: lambda _: NoWatermarks(),
        GeneratorKind.PROCESSING_TIME: lambda _: ProcessingTimeGenerator(),
    }
)
