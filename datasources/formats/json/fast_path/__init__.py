"""Whole batches in DuckDB, for documents whose text matches a template.

`templates` derives templates from a producer's documents, `value_patterns` and `composite_patterns` define which texts
of a type may be decoded here, `template_decoder` applies them, `duckdb_query` and `duckdb_columns` run DuckDB.
"""
