"""A block under rewriting.

`block_context` is what rules look at and change; `statement_planning` is shared by all blocks of a statement,
`survey` knows the whole statement. `relation` and `temporal_request` are the values, `planner_interface` what is
asked of the planner. `edits` changes text.
"""
