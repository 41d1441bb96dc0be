"""Kafka.

`source` turns options into a scan; `enumerator` is the driver's view: which partitions, from where, to where.
`startup` reads options and start positions, `client` opens librdkafka, `metadata` asks the brokers, `record` turns
records into columns, `reader` fetches ranges. `data_source` is the format `tidemark-kafka`.
"""
