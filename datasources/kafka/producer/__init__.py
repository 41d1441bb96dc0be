"""Writing to topics: what the sinks and the dead letters of the source have in common.

`target_topic` looks for a topic, `producers` hands records to a producer, `transactions` commits them together with a
number.
"""
