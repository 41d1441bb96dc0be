"""From the text of an expression to nodes, on the driver, with Spark's typing.

`compile` has the entry points; `syntax` parses, `scope` and `columns` resolve names, `binder` types each kind of node
with `literals`, `operators`, `casts`, `functions` and their helpers. What is not known to have Spark's result in the
reader is refused.
"""
