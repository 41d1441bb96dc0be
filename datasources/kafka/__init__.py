"""Kafka.

`source` builds a scan from options; `enumerator` plans on the driver: which partitions, from where, to where.
`startup` reads options and start positions, `login` those of the connection, `metadata` queries the brokers. On
executors `reader` fetches ranges through `client` (librdkafka), and `record` decodes them into columns with
`datasources.formats`; `dead_letters` writes those that give no row, by `producer`. Watermarks are made above it, in
`datasources.source.reading`. `data_source` is the format `tidemark-kafka`.
"""
