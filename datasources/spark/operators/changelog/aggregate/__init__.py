"""Aggregates per group over a table that changes: SELECT k, COUNT(*), SUM(x) FROM t GROUP BY k.

Every result is a function of the table at that time. It depends neither on the order of the changes nor on rows that
came and went: sums are exact inside, also those of doubles, and are rounded once.

COUNT, SUM, AVG, BOOL_AND and BOOL_OR are linear: a group's state is a few sums, which a removed row decreases. With
DISTINCT they are linear over the values that are there, so the state counts each value and a micro-batch reads the
counts of the values that it changes. MIN, MAX, ANY_VALUE, FIRST, LAST, ARRAY_AGG and LISTAGG need a group's values:
a micro-batch reads those of each group that it changes. MIN and MAX of a table without removals need the extreme only.

Reading order: `aggregate_call` describes one aggregate; `layout` what a set of them stores; `aggregate_operator` does a
micro-batch, with `groups` (which rows are one group), `partials` (sums per group, of `wide_sums` and `double_sums`),
`multisets` (values per group), `linear_results` and `value_results`.
"""
