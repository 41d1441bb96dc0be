"""Spark's DDL schema text to an Arrow schema and back, without a JVM: `ddl`, and its types in Arrow."""
