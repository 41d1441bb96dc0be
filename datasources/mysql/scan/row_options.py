"""Options of rows and batches: columns, values that Spark cannot represent, and what fails a query."""

from __future__ import annotations

import enum
import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field, model_validator

from datasources.mysql.binlog import FIRST_POSITION, BinlogPosition
from datasources.mysql.types import ZeroDates
from datasources.options import OptionGroup

_POSITION: Final = re.compile(r"([^\s,:]+\.[0-9]{6,}):([0-9]+)")
_TABLE: Final = re.compile(r"([^\s,.`]+)\.([^\s,.`]+)")


class RewritePolicy(enum.Enum):
    """The effect of a statement that changes rows of a captured table without row events."""

    FAIL = "fail"
    IGNORE = "ignore"
    REREAD = "reread"


class SchemaChangeBehavior(enum.Enum):
    """The effect of a column of a captured table that is not declared."""

    IGNORE = "ignore"
    EXCEPTION = "exception"


def parse_positions(text: str) -> frozenset[BinlogPosition]:
    """Return the positions that ``binlog.000007:1234, binlog.000008:4`` lists.

    Raises:
        ValueError: an item is no position.
    """
    found = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _POSITION.fullmatch(part)
        if match is None or int(match[2]) < FIRST_POSITION:
            raise ValueError(f"'{part}' is no binlog position such as 'binlog.000042:1234'")
        found.add(BinlogPosition(match[1], int(match[2])))
    return frozenset(found)


def parse_tables(text: str) -> tuple[tuple[str, str], ...]:
    """Return the tables that ``shop.orders, shop.items`` lists, in order; what follows a '#' is a comment.

    Raises:
        ValueError: an item is no table.
    """
    found = set()
    for part in filter(None, (part.strip() for part in text.partition("#")[0].split(","))):
        match = _TABLE.fullmatch(part)
        if match is None:
            raise ValueError(f"'{part}' is no table such as 'shop.orders'")
        found.add((match[1], match[2]))
    return tuple(sorted(found))


def _positions(text: str) -> str:
    parse_positions(text)
    return text


def _tables(text: str) -> str:
    parse_tables(text)
    return text


class MySqlRowOptions(OptionGroup):
    """Which columns are read, and values that Spark cannot represent."""

    ddl: str | None = Field(
        None,
        alias="schema",
        description="The columns as Spark DDL, named as in the tables; a column that is left out is not read. Default: "
        "all columns of the tables, which must then agree.",
    )
    zero_dates: ZeroDates = Field(
        ZeroDates.FAIL,
        alias="scan.zero-dates",
        description="An invalid date, such as '0000-00-00', stops the query (`fail`) or is NULL (`null`).",
    )
    masked: str | None = Field(
        None,
        alias="scan.masked-columns",
        description="Columns whose values are never read: they are NULL. With commas between them.",
    )

    @property
    def masked_columns(self) -> frozenset[str]:
        """The columns of `scan.masked-columns`."""
        return frozenset(filter(None, (part.strip() for part in (self.masked or "").split(","))))


class MySqlBatchOptions(OptionGroup):
    """Sizes of batches, and what fails a query."""

    max_bytes: int = Field(
        64 << 20,
        alias="scan.max-bytes-per-batch",
        ge=1,
        description="A batch ends at the first transaction after so many bytes of the binlog. A larger transaction is "
        "a batch of its own.",
    )
    max_trigger_bytes: int | None = Field(
        None, alias="maxBytesPerTrigger", ge=1, description="Spark's name for scan.max-bytes-per-batch."
    )
    parallelism: int = Field(
        8,
        alias="scan.snapshot.parallelism",
        ge=1,
        le=1_000,
        description="How many readers read tables in parallel, if there are as many task slots. Fixed when a query "
        "begins.",
    )
    on_rewrite_ddl: RewritePolicy = Field(
        RewritePolicy.FAIL,
        alias="on-rewrite-ddl",
        description="A statement that changes rows of a captured table without row events (a column that is read gets "
        "another type, a dropped partition, a table swap, ...) stops the query (`fail`), makes it read the table again "
        "by itself (`reread`: a truncate row, then the rows as they are), or is skipped (`ignore`): the changelog "
        "then no longer gives the table.",
    )
    schema_change: SchemaChangeBehavior = Field(
        SchemaChangeBehavior.IGNORE,
        alias="schema.change.behavior",
        description="A column of a captured table that is not among those that are read is ignored (`ignore`), or "
        "stops the query (`exception`) before the first row that may have it. With that column and "
        "'watermark.on-change' = 'continue' the query goes on from there.",
    )
    skipped: Annotated[str, AfterValidator(_positions)] = Field(
        "",
        alias="scan.skip-transactions",
        description="Transactions to skip, by file:pos of their beginning as an error names it; with commas "
        "between them.",
    )
    again: Annotated[str, AfterValidator(_tables)] = Field(
        "",
        alias="scan.snapshot.again",
        description="Tables to read again, `shop.orders, shop.items`: a truncate row, then the rows as they are. Done "
        "once for each new value of the option; a remark behind '#' makes a value new: `shop.orders # second time`.",
    )

    @model_validator(mode="after")
    def _one_name(self) -> MySqlBatchOptions:
        if {"max_bytes", "max_trigger_bytes"} <= self.model_fields_set:
            raise ValueError("options 'scan.max-bytes-per-batch' and 'maxBytesPerTrigger' mean the same: set one.")
        return self

    @property
    def max_bytes_per_batch(self) -> int:
        """The bound under either name."""
        return self.max_bytes if self.max_trigger_bytes is None else self.max_trigger_bytes
