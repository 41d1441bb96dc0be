"""From a table of the catalog to a DataFrame.

`table_planner` is the entry. It resolves the table, plans it (`table_plan`: the tree of `build`, rewritten by one rule
per file under `rules`), and `frame` makes the DataFrame. `connectors` maps SQL's connectors to formats, `trial` checks
whether a connector accepts a scan, `temporal` plans temporal joins, `explain` prints trees for EXPLAIN.
"""
