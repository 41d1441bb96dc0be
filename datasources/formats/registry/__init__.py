"""Schema registries: the client, its options, and records that name their schema by an id.

Source: Confluent's wire format and REST interface, which other registries speak too.
"""
