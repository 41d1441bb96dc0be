"""A block under rewriting.

`block_context` is what rules read and change; `statement_planning` is shared by all blocks of a statement, `survey`
describes the whole statement. `relation` and `temporal_request` are values, `planner_interface` is the interface of the
planner. `edits` changes text.
"""
