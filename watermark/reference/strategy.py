"""What the user asked for, as a value."""

from __future__ import annotations

from dataclasses import dataclass

from watermark.emission import EmitStrategy
from watermark.event_time import NANOS_PER_MICRO
from watermark.reference.idleness_timer import IdlenessTimer


@dataclass(frozen=True, slots=True, kw_only=True)
class WatermarkStrategy:
    """How the values of a watermark expression become the watermarks of a source.

    Source: Flink's WatermarkStrategy.

    Attributes:
        emit: When watermarks are combined.
        idle_timeout_us: Silence after which a split is idle; ``None``: never.
    """

    emit: EmitStrategy = EmitStrategy.ON_PERIODIC
    idle_timeout_us: int | None = None

    def create_idleness_timer(self, *, now_ns: int) -> IdlenessTimer | None:
        """Return a new idleness timer for one split; ``None`` if splits never fall idle by themselves.

        Raises:
            InvalidStrategy: The timeout is not positive.
        """
        if self.idle_timeout_us is None:
            return None
        return IdlenessTimer(self.idle_timeout_us * NANOS_PER_MICRO, now_ns=now_ns)
