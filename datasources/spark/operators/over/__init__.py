"""OVER windows by event time, with Flink's results.

`operator` is the public function `over()`; `aggregate_parsing` parses the aggregates. `over_processor` is called by
Spark, `over_bucket` unpacks a micro-batch for one bucket, `over_step` processes it: accept rows, advance, fire.
`firing` computes rows that fire with the frames of `over.frames`. `over_state`, `key_generations` and `pending_rows`
are the state between micro-batches.
"""
