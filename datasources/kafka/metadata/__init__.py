"""Questions to the brokers, each answer checked before it is stored.

`broker_metadata` lists partitions, begins, ends and times; `log_ends` asks for many ends without objects,
`planning_ends` once per planning, also while a leader is away. `topic_ids` and `log_identities` tell logs apart,
`absent_partitions` and `partition_log` decide what a missing part means, `subscriber` is which partitions a source
reads.
"""
