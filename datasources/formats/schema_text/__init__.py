"""Spark's DDL schema text to an Arrow schema and back, without a JVM: `ddl`, its lexer and its type names."""
