"""Options that Flink declares for several formats."""

from __future__ import annotations

import enum
from typing import Final

from datasources.formats.api.format import FormatOption


class TimestampStandard(enum.Enum):
    """How Flink writes a timestamp; both are read whichever is named."""

    SQL = "SQL"
    ISO_8601 = "ISO-8601"


IGNORE_PARSE_ERRORS: Final = FormatOption(
    key="ignore-parse-errors",
    type=bool,
    description="Flink's spelling of `format.on-error` = `skip`: the whole record is left out, and counted.",
)
TIMESTAMP_STANDARD: Final = FormatOption(
    key="timestamp-format.standard",
    type=TimestampStandard,
    description="Accepted as Flink's; both standards are read whichever is named.",
)
FAIL_ON_MISSING_FIELD: Final = FormatOption(
    key="fail-on-missing-field",
    type=bool,
    description="Flink's; only `false`. A field must be there if its column is NOT NULL.",
)
