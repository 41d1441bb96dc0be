"""The binlog dump: the request, its stream of events, its errors, and when it counts as stalled."""
