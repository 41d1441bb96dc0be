"""Requests to the brokers, with validated answers.

`broker_metadata` requests partitions, beginnings, ends and offsets for timestamps; `log_ends` requests many ends
without Python objects, `planning_ends` once per planning, also while a leader is unavailable. `topic_ids` and
`log_identities` identify a topic's incarnation, `absent_partitions` and `partition_log` handle missing partitions and
records, `subscriber` selects the partitions of a source, `group_commits` shows a consumer group how far it has come.
"""
