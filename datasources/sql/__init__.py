"""SQL tables with `WATERMARK FOR`, pushed down into the scan.

The steps of a statement: `text` tokenizes it, `parse` reads it into one of `statements`, `definitions` and `catalog`
store what it defines, `resolve` binds the names and types of a table, `query` rewrites a query into Spark SQL,
`planner` builds DataFrames from tables, `execute` runs the statement. `table_environment` is the public API, `shell`
the prompt.
"""

from datasources.requirements import require_pyspark

require_pyspark()  # before any module that imports it, so that a missing package is one clear sentence

from datasources.sql.definitions.python_functions import arrow_function  # noqa: E402
from datasources.sql.execute.result import StatementResult  # noqa: E402
from datasources.sql.table_environment import TableEnvironment  # noqa: E402

__all__ = ["StatementResult", "TableEnvironment", "arrow_function"]
