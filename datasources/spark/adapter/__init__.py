"""PySpark's DataSource V2 API.

`data_source`, `stream_reader` and `batch_reader` on the driver, `partition` and `task_channel` on executors.
"""
