"""Options of Spark's own Kafka source that are not supported here, and the alternatives."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_IN_ORDER = (
    "one task reads a partition's records in their order, because the watermark before each row follows from the rows "
    "before it; a range that is cut would give other watermarks and other late rows. Leave the option out. To spread "
    "the work behind the reader call repartition(n) on the DataFrame, to spread the reading give the topic more "
    "partitions"
)

REFUSED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "minPartitions": f"{_IN_ORDER}.",
        "maxRecordsPerPartition": f"{_IN_ORDER}; to make batches smaller set maxOffsetsPerTrigger.",
    }
)
"""Option -> why it is rejected and the alternative, to follow a colon."""
