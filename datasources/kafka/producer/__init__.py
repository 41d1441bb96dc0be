"""Writing to topics.

`target_topic` looks for a topic, `producers` hands records to a producer, `transactions` commits them together with a
number.
"""
