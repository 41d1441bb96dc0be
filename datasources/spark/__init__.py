"""The adapter between the framework and PySpark."""

from datasources.requirements import require_pyspark

require_pyspark()
