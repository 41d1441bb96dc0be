"""The queries' results: DuckDB computes them from the Parquet files (`expected`), `comparison` compares a side's."""
