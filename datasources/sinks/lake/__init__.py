"""Tables of a lake as sinks: Delta Lake and Iceberg.

A batch is one MERGE, which is one commit of the table. The commit carries the id of the query and the batch's number,
so a batch that was committed already is recognised: each is applied exactly once.
"""
