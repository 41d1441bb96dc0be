"""The dialect `flink`: expressions mean what Flink SQL means.

A statement is translated into Spark SQL before anything else of the query layer sees it. Names and types are resolved
here, with the columns of tables and views, because results of Flink's operators and functions depend on types.

Read `query_translator`, then `expression_translator`, then `operators`, `casts` and `functions`. `expression_parser`
makes the trees of `syntax`. Answers of a real Flink are what the tests compare with (`tests/golden/flink`).
"""
