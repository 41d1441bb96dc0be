"""Options that other sources have and Kafka cannot support, with the alternatives."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_BYTES: Final = (
    "of other sources: Kafka's offsets do not tell how many bytes lie between them, so the driver cannot plan by "
    "bytes. Set maxOffsetsPerTrigger. The memory of a task does not depend on it: a reader holds some 8 MB of records "
    "at a time."
)

REFUSED: Final[Mapping[str, str]] = MappingProxyType({"maxBytesPerTrigger": _BYTES, "scan.max-bytes-per-batch": _BYTES})
"""Option -> what it is, why it is rejected and the alternative."""
