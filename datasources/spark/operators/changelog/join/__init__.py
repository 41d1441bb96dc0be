"""Joins of changing tables.

Reading order: `join_sides` finds the rows of both tables that the changes concern and which of them have equal keys;
`join_operator` makes the changes of the result from them. `match_operator` makes outer, semi and anti joins with a
condition beyond equality from the inner join that the condition has filtered.
"""
