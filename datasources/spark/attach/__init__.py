"""Making Spark's stateful operators follow the reader's watermark.

`register` starts the coordinator and the `listener` of an application, `read_stream` loads and attaches in one call,
`attach` puts EventTimeWatermark and the filter against heartbeats above a stream. `assigner` is for watermarks that
no reader makes: Spark computes them from the rows.
"""
