"""SQL tables with `WATERMARK FOR`, pushed down into the scan.

`table_environment` is the public API: `text` splits a script, `parse` reads each text into one of `statements`, and
`execute` runs it. CREATE and ALTER store `definitions` in the `catalog`. A query is rewritten by `query` into Spark SQL
over temporary views. For each of its tables `resolve` binds names and types, and `planner` builds the view's DataFrame:
a scan with the watermark pushed into it, attached. If a table of the query changes, `execute.change_tables` lets
`datasources.changelog` keep its result up to date instead. SELECT returns a DataFrame, INSERT also starts the stream.
`types` is shared, `shell` is the prompt.
"""

from datasources.requirements import require_pyspark

require_pyspark()  # before any module that imports it, so that a missing package is one clear sentence

from datasources.sql.definitions.python_functions import arrow_function  # noqa: E402
from datasources.sql.execute.result import StatementResult  # noqa: E402
from datasources.sql.table_environment import TableEnvironment  # noqa: E402

__all__ = ["StatementResult", "TableEnvironment", "arrow_function"]
