"""What every stateful operator shares: rows travel and are stored by bucket, a hash of their key.

Spark's transformWithState calls an operator once per bucket and batch, not once per key, so that its work is done on
columns.

Read in this order: `row_batches` packs rows above the shuffle and unpacks them below; `bucket_batches` is what a
bucket takes and gives; `bucket_processor` and `bucket_variables` are Spark's side of it, calls and state;
`bucket_operator` puts an operator between packing and unpacking. `partition_keys` maps keys to buckets.
`bucket_segments` keeps large state in few pieces. `state_settings` and `stored_settings` check the session and the
checkpoint.
"""
