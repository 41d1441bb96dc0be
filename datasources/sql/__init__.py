"""SQL tables with `WATERMARK FOR`, pushed down into the scan."""

from datasources.sql.result import StatementResult
from datasources.sql.session import TableEnvironment
from datasources.sql.udf import arrow_function

__all__ = ["StatementResult", "TableEnvironment", "arrow_function"]
