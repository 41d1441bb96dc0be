"""The adapter between the framework and PySpark."""
