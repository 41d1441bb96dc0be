"""What the demo writes.

Orders from a seed, the topic and its producer, and the tables of a shop under constant change.
"""
