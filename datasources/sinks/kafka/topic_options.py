"""What the options of all topics have in common."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final, TypeVar

from pyspark.sql import SparkSession

from datasources.errors import OptionError
from datasources.kafka.client.client_config import PREFIXES, ClientConfig, client_config
from datasources.kafka.source import KafkaSource
from datasources.options import OptionGroup, parse_group, reject_unknown
from datasources.spark.options.code_options import allows_code_options, refuse_code

G = TypeVar("G", bound=OptionGroup)

FORMAT: Final = "json"
_SCAN: Final = "scan."


class ValueFields(enum.Enum):
    """Flink's value.fields-include."""

    ALL = "ALL"
    EXCEPT_KEY = "EXCEPT_KEY"


def topic_options(
    spark: SparkSession, given: Mapping[str, str], group: type[G], *, connector: str, refused: Mapping[str, str]
) -> tuple[G, ClientConfig]:
    """Return a sink's options and the settings of its client; those of the table as a source are ignored.

    Raises:
        OptionError: one is unknown, wrong or refused.
    """
    options = {key: value for key, value in given.items() if not key.startswith(_SCAN)}
    reject_unknown(options, [group], prefixes=PREFIXES, refused=refused, what=connector, page="docs/changing-tables.md")
    parsed = parse_group(group, options)
    if not allows_code_options(spark):
        refuse_code(KafkaSource, options)
    return parsed, client_config(options)


def require_format(option: str, value: str | None) -> None:
    """Raise unless a format can be written.

    Raises:
        OptionError: it cannot, or is missing.
    """
    if value is None:
        raise OptionError(f"option '{option}' is required: the sink writes '{FORMAT}'.")
    if value.lower() != FORMAT:
        raise OptionError(f"option '{option}' = '{value}': the sink writes '{FORMAT}'.")
