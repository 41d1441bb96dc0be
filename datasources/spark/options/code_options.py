"""Options by which their writer could run code: refused unless the application was started with a setting for them.

The setting is read from Spark's own configuration, which is fixed when the application starts. A user of the session
can SET a key of the same name; nothing reads that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from datasources.errors import OptionError
from datasources.source.api.connector import ScanSource
from datasources.spark.boundary.connect import application_setting, is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALLOW_CODE: Final = "spark.tidemark.allow-code-options"


def allows_code_options(spark: SparkSession) -> bool:
    """Return whether the application was started with the setting."""
    if is_connect(spark):
        return False  # its users can change what they see of the application's configuration
    value = application_setting(spark, ALLOW_CODE) or "false"
    if value not in ("true", "false"):
        raise OptionError(f"{ALLOW_CODE} = '{value}': use true or false.")
    return value == "true"


def refuse_code(connector: type[ScanSource], options: Mapping[str, str]) -> None:
    """Raise for the first option that would run code.

    Raises:
        OptionError: Naming the option, its effect, and the setting that allows it.
    """
    for option, effect in connector.code_options(options):
        raise OptionError(
            f"option '{option}' {effect}, so setting options is not enough. It is allowed where the application "
            f"is started: spark-submit --conf {ALLOW_CODE}=true. A Spark Connect client is never allowed to."
        )
