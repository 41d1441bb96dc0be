"""The options of formats."""

from __future__ import annotations

from pydantic import Field

from datasources.formats.api.error_policy import OnError
from datasources.options import OptionGroup


class FormatOptions(OptionGroup):
    """The columns of decoded records, and what a malformed record does."""

    ddl: str | None = Field(
        None,
        alias="schema",
        description="The columns as Spark DDL: `user BIGINT, price DOUBLE, ts TIMESTAMP`. Needed by every format but "
        "raw.",
    )
    on_error: OnError = Field(
        OnError.FAIL,
        alias="format.on-error",
        description="A malformed record stops the query with its topic, partition and offset, becomes a row of nulls, "
        "or is left out; `dead-letter` also writes it to a topic (Kafka only). All but the first are counted.",
    )
