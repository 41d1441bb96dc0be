"""librdkafka's clients.

`client_config` translates Java's settings, `consumers` and `pool` keep clients between tasks, `native_client` and
`message_client` are the two ways to fetch: columns by C, or a Python object for each record (`record_columns` is what
both give). `error_capture` keeps connection errors for later messages, `client_errors` turns librdkafka's errors into
ours, `attempts` bounds retries.
"""
