"""What a query does with the rows of a source, done by the readers of the source.

* ``projection`` leaves out what a query does not need: columns, fields of STRUCTs, and rows.
* ``aggregates`` has aggregates computed in part, so that Spark combines groups.
* ``packing_pushdown`` and ``row_batch_pushdown`` have rows packed for operators of ours.

Each changes Spark's analysed plan: a source is loaded again (``loaded_source``) with options that say what it delivers.
``table_rows`` reads the plan between a source and what takes its rows. What is not certain to give Spark's own result
stays as it was, with the reason (``NotPushed``).
"""
