"""Every error that Tidemark raises towards its users.

    TidemarkError
    ├── OptionError              an option is unknown, missing, malformed or contradicts another
    │   └── ExpressionError      a watermark or computed expression cannot be used; has its position
    ├── SchemaError              a schema or DDL string is malformed, or names a reserved column
    ├── SqlError                 a SQL statement is malformed or cannot be carried out; names line and column
    ├── QueryError               the query around the source is not one that works (not attached, bad setting)
    ├── SourceUnavailable        a broker or server could not be reached, or does not have what was named
    ├── DataLossError            positions that the query needs are gone
    ├── RecordError              one record cannot be decoded or breaks a constraint; names its position
    ├── OffsetError              a checkpoint's offset cannot be used by this version or configuration
    ├── CoordinatorError         the channel between driver and tasks broke
    ├── NonDeterminismError      a range was read twice with different results
    ├── EnvironmentProblem       the machine lacks something: Java, a package, a version
    └── InternalError            a bug of ours

Each class has a stable ``code``; the message starts with it, so that it stands in the first line that a user
sees, also when Spark wraps it. A message states what happened, where, and what to do. Errors cross process
boundaries by pickle: they are built from one string only.
"""

from __future__ import annotations

from typing import ClassVar


class TidemarkError(Exception):
    """Base of all errors of Tidemark; catch it to catch them all."""

    code: ClassVar[str] = "TIDEMARK"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return f"[{self.code}] {self.message}"


class OptionError(TidemarkError):
    """An option is unknown, missing, malformed or contradicts another one."""

    code = "TIDEMARK_OPTION"


class ExpressionError(OptionError):
    """An expression does not parse, has the wrong type, or cannot be evaluated exactly in the reader.

    Attributes:
        row_index: the row in its batch for which the expression has no value; -1 if it is not about one row.
    """

    code = "TIDEMARK_EXPRESSION"
    row_index: int = -1


class SchemaError(TidemarkError):
    """A schema string is malformed, holds an unsupported type, or uses a reserved column name."""

    code = "TIDEMARK_SCHEMA"


class SqlError(TidemarkError):
    """A SQL statement is malformed, names what does not exist, or asks for what cannot be done."""

    code = "TIDEMARK_SQL"


class UpdatingQueryError(SqlError):
    """A query of streams has a result that changes, and something needs rows that stay."""


class QueryError(TidemarkError):
    """The query or session around a source is not one in which its watermarks work."""

    code = "TIDEMARK_QUERY"


class SourceUnavailable(TidemarkError):
    """A server could not be reached in time, or lacks the topic or table that was named."""

    code = "TIDEMARK_SOURCE_UNAVAILABLE"


class DataLossError(TidemarkError):
    """Positions between the checkpoint and now are gone from the source."""

    code = "TIDEMARK_DATA_LOSS"


class RecordError(TidemarkError):
    """A record cannot be decoded, or breaks a constraint of the schema."""

    code = "TIDEMARK_RECORD"


class OffsetError(TidemarkError):
    """An offset in the checkpoint does not fit this version, schema or strategy."""

    code = "TIDEMARK_OFFSET"


class CoordinatorError(TidemarkError):
    """The channel between the driver and its tasks could not be opened or was refused."""

    code = "TIDEMARK_COORDINATOR"


class NonDeterminismError(TidemarkError):
    """Reading the same range again gave another result, so no exact answer exists."""

    code = "TIDEMARK_NON_DETERMINISM"


class EnvironmentProblem(TidemarkError):
    """The machine lacks a requirement; the message names it and how to install it."""

    code = "TIDEMARK_ENVIRONMENT"


class InternalError(TidemarkError):
    """A bug in Tidemark; please report it with the message."""

    code = "TIDEMARK_INTERNAL"
