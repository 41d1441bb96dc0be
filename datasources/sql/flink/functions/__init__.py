"""Flink's built-in functions, by family; `function_table` has all of them.

A function is a list of signatures. The first one whose parameters take the arguments counts; arguments are cast to the
parameters' types where Flink does that by itself. Its text is Spark SQL.
"""
