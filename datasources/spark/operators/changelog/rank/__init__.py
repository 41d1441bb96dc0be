"""Rows by their rank within a partition: top-N, deduplication, LIMIT and OFFSET, and ranking functions as columns.

Reading order: `value_order` sorts values as Spark does; `ranked_rows` ranks the rows of some partitions before and
after a micro-batch; `rank_changes` makes changes of their difference; `rank_operator` is the operator.
"""
