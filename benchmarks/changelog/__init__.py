"""`make bench-changelog`: queries whose rows change, on Spark and on Flink."""
