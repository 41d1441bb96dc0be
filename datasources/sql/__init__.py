"""SQL tables with `WATERMARK FOR`, pushed down into the scan.

A statement's way: `text` cuts it, `parse` reads it into one of `statements`, `definitions` and `catalog` keep what it
defines, `resolve` makes every name and type of a table known, `query` rewrites a query into Spark SQL, `planner`
turns tables into DataFrames, `execute` does what the statement asks, `table_environment` is the public entrance and
`shell` the prompt.
"""

from datasources.requirements import require_pyspark

require_pyspark()  # before any module that imports it, so that what is missing is one sentence

from datasources.sql.definitions.python_functions import arrow_function  # noqa: E402
from datasources.sql.execute.result import StatementResult  # noqa: E402
from datasources.sql.table_environment import TableEnvironment  # noqa: E402

__all__ = ["StatementResult", "TableEnvironment", "arrow_function"]
