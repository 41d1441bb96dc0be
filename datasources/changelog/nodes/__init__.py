"""Translates the nodes of a plan, each into one over changes.

Reading order: `stateless` (projections, filters, unions), `aggregation` (`aggregate_calls` are its functions,
`recomputation` goes over a group's values with Spark's), `join`, `rank`. `scalar_subqueries` turns subqueries into
joins, `single_row` is what they join: an aggregate without groups.
"""
