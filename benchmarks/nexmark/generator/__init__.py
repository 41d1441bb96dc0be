"""Nexmark's events: persons, auctions and bids with the distributions of the reference implementation's generator.

An event is a function of the seed and its number alone, so that any processes can make any of them. `events` makes the
columns of a list of numbers from `generator_config`, `event_random` and `text_pools`; `event_json` writes them as the
values of Kafka's records, `event_tables` as Arrow tables. `topic_writer` and `parquet_writer` are programs.
"""
