"""Secret options in Spark's plans: the session's redaction is widened to those that Spark does not know.

Spark shows the options of a streaming relation in its logical plans (``explain("extended")``, the event log of the UI).
It redacts by two patterns: ``spark.redaction.regex`` of the application, which is fixed when Spark starts, and
``spark.sql.redaction.options.regex`` of the session, which is set here. Queries that run take over the session's.

A class that was registered by hand runs in a session in which it is not set, and cannot set it from Spark's process for
sources. It takes only secrets that Spark hides by its own patterns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from datasources.errors import OptionError
from datasources.secret_keys import is_secret_key, redaction_pattern, secret_values
from datasources.spark.boundary.connect import set_in_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PATTERN: Final = "spark.sql.redaction.options.regex"
_WIDENED: Final = "(?:{})|{}"
_BY_SPARK: Final = re.compile(r"secret|password|token|access[.]?key|url", re.IGNORECASE)
"""The defaults of both settings; they are searched in the key and in the value."""


def redact_options(spark: SparkSession) -> bool:
    """Let Spark redact the values of secret options, besides those that the session redacts already.

    Returns:
        Whether it does: the definition of a pipeline can change no setting.
    """
    ours, present = redaction_pattern(), str(spark.conf.get(_PATTERN, "") or "")
    if present.endswith(ours):
        return True
    return set_in_session(spark, _PATTERN, _WIDENED.format(present, ours) if present else ours)


def require_hidden_by_spark(options: Mapping[str, str]) -> None:
    """Raise for the first secret option that a session without the wider pattern shows.

    Raises:
        OptionError: naming the option, not its value.
    """
    for key, value in options.items():
        is_secret = is_secret_key(key) or bool(secret_values(value))
        if is_secret and not (_BY_SPARK.search(key) or _BY_SPARK.search(value)):
            raise OptionError(
                f"option '{key}' is a secret that Spark would show in plans and event logs: this class was registered "
                f"by hand. register(spark) lets Spark hide it; where that cannot be called, give the path of a file "
                f"instead (kafka.ssl.key.location)."
            )
