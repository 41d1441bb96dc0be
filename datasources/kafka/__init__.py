"""Kafka.

`source` builds a scan from options; `enumerator` plans on the driver: which partitions, from where, to where.
`startup` reads options and start positions, `client` opens librdkafka, `metadata` queries the brokers, `record` turns
records into columns, `reader` fetches ranges. `data_source` is the format `tidemark-kafka`.
"""
