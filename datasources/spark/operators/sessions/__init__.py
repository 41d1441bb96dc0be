"""SESSION windows with PARTITION BY, exact for late rows.

`session_windows` is the public function. `merging` is Flink's merging of sessions on columns, without Spark.
`session_processor` is called by Spark, `session_bucket` unpacks a micro-batch for one bucket, `session_step` processes
it and `session_state` is the state between micro-batches.
"""
