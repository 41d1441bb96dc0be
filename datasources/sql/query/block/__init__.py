"""A block under rewriting: one SELECT with its clauses.

`block_context` is what rules read and change; `statement_planning` is shared by all blocks of a statement, `survey`
collects what the statement needs of each table. `relation` and `temporal_request` are values, `planner_interface` is
what the query layer needs of the planner. `edits` replaces parts of a text.
"""
