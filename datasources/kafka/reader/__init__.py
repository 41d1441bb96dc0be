"""Reading ranges of partitions.

`kafka_reader` is the connector's reader, `fetcher` fetches [start, end) of one partition, `record_chunks` decodes
records into chunks of rows, `peek` and `open_ranges` read a few records of many partitions for alignment.
"""
