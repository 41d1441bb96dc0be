"""librdkafka's clients.

`client_config` translates Java's settings, with `datasources.kafka.login`; `consumers` and `pool` reuse clients across
tasks. `native_client` and `message_client` are the two feeds: columns filled by C, or a Python object per record
(`record_columns` is their common interface). `error_capture` keeps connection errors for later messages,
`client_errors` maps librdkafka's errors to ours, `attempts` bounds retries.
"""
