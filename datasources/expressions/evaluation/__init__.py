"""A compiled expression on an executor: picklable nodes that evaluate whole batches.

`compiled_expression` is what travels; `nodes` are strict functions, columns and constants, `logic_nodes` those that may
skip operands (AND, OR, CASE), `function_call` runs a user's function.
"""
