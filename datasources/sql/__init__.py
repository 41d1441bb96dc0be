"""SQL tables with `WATERMARK FOR`, pushed down into the scan."""

from datasources.requirements import require_pyspark

require_pyspark()  # before any module that imports it, so that what is missing is one sentence

from datasources.sql.result import StatementResult  # noqa: E402
from datasources.sql.session import TableEnvironment  # noqa: E402
from datasources.sql.udf import arrow_function  # noqa: E402

__all__ = ["StatementResult", "TableEnvironment", "arrow_function"]
