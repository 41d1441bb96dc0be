"""Operators over changes: each keeps a table, its result, up to date while its input tables change.

Changes are rows with a weight: +1 adds a row to a table, -1 removes one. Only sums of weights matter, so neither the
order of the changes of a micro-batch nor their distribution over micro-batches has an influence on the tables, and
reading a micro-batch again gives the same changes. An update is a removal and an addition. The theory is that of Z-sets
(Budiu et al., "DBSP: Automatic Incremental View Maintenance for Rich Query Languages", 2023).

Reading order: `changes` is the form of changes; `value_codes` compares and hashes values; `change_operator` is what an
operator implements; `pages` its state, stored by key; `change_batches` packs changes above the shuffle and unpacks them
below; `change_processor` adapts an operator to Spark's calls and state; `run_changes` puts all of it into a query.
"""
