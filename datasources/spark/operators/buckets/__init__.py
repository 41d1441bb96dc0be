"""Shared by every stateful operator: rows are shuffled and stored by bucket, a hash of their key.

Spark's transformWithState calls an operator once per bucket and micro-batch, not once per key, so the operator works on
columns.

Reading order: `row_batches` packs rows above the shuffle and unpacks them below it; `bucket_batches` is the input and
output of one bucket; `bucket_processor` and `bucket_variables` adapt them to Spark's calls and state; `bucket_operator`
puts an operator between packing and unpacking. `partition_keys` maps keys to buckets. `bucket_segments` keeps large
state in few segments. `state_settings` and `stored_settings` check the session and the checkpoint.
"""
