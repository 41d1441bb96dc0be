"""Whole batches in DuckDB, for documents whose text matches a template.

`templates` learns the shape of a producer's documents, `value_patterns` and `composite_patterns` say which texts of a
type may be decoded here, `template_decoder` runs them, `duckdb_query` and `duckdb_columns` are DuckDB's side.
"""
