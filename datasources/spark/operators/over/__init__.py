"""OVER windows by event time, with Flink's rows.

`operator` is the public function `over()`. `aggregate_parsing` reads the aggregates. `over_processor` is called by
Spark and `over_bucket` unpacks a batch for one bucket; `over_step` is the batch itself: take rows, advance, fire.
`firing` computes the rows that fire with the frames of `over.frames`. `over_state`, `key_generations` and
`pending_rows` are what is kept between batches. `over_batch` is the same window over a batch DataFrame.
"""
