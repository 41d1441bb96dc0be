"""The adapter between the framework and PySpark.

`options` and `scan` turn a user's options into a scan; `adapter` implements Spark's data source and calls the
framework; `attach` lets Spark's operators follow the watermark; `plans` checks Spark's plans; `operators` are stateful
operators of Tidemark; `pushdown` lets readers compute aggregates over windows in part; `boundary` is what crosses to
Spark's processes.
"""

from datasources.requirements import require_pyspark

require_pyspark()
