"""SESSION windows with PARTITION BY, exact for late rows.

`session_windows` is the public function. `merging` is Flink's merging of sessions over whole columns, without Spark.
`session_processor` is called by Spark, `session_bucket` unpacks a batch for one bucket, `session_step` decides what
leaves and `session_state` is what is kept. `session_batch` is the same over a batch DataFrame.
"""
