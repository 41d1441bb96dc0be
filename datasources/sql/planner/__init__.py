"""From a table of the catalog to a DataFrame: one rewrite per file under `rules`, then execution."""
