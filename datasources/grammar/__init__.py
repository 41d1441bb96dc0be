"""The grammars that SQL statements, Spark's DDL texts and records share: tokens, types, timestamps and time zones.

Nothing here needs a JVM or a SQL parser: executors import it.
"""
