"""PySpark's DataSource V2 API.

Spark instantiates `data_source`. On the driver `stream_reader` and `batch_reader` plan batches and tasks; on executors
`stream_reader.read` runs the task of a `partition` and reports through `task_channel`. `binding` is what `register()`
binds into the class.
"""
