"""Temporal joins: each row of the probe side with the version of the build side that was valid at its time.

`temporal_join` is the public function; `join_checks`, `join_sides` and `join_keys` check and prepare the two sides.
`temporal_processor` is called by Spark, `temporal_bucket` joins the rows of one bucket, with the versions of
`temporal.versions`. `temporal_state` and `pending_probe` are the state between micro-batches. `temporal_batch` is the
same join over batch DataFrames.
"""
