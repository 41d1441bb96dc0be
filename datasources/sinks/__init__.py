"""Sinks that take changes: they keep a table equal to the result of a query whose rows change.

Theory of operation. A batch of a changelog is reduced to one action per PRIMARY KEY of the target, an upsert or a
delete (`datasources.changelog.net_actions`), and the sink applies them. Applying the same actions again gives the same
table, so a batch that is written twice has the effect of one; sinks that can, note the batch's number in the same
transaction and skip it. Spark numbers the batches of a query, and repeats one with the same number and the same rows
after a failure.

A sink runs the plan of every batch, also of one that it skips: operators with state keep their state by running.

Reading order: `change_sink` is what a sink implements, `batch_writer` the function for foreachBatch,
`registry` the sinks by the names of their connectors. Each sink has a package.
"""
