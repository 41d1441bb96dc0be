"""Decides, in the planner process on the driver, what the next batch is.

`planner` observes and applies; in between `decide` is the sequence of rules, from values to values (`planner_state`,
`planner_settings`), without a clock and without I/O. The rules, in their order: `reconcile` the last batch with the
reports of its tasks, find new and missing splits (`discovery`), set their statuses (`planned_splits`), decide what is
read (`load_gate`, `alignment`; `batch_delay` and `available_now` leave rows for later), combine the watermarks, and if
nothing is read decide whether a `heartbeat` is due. `idle_skip` skips plannings while nothing changes.
`connector_state_tracker` serves connectors with a state; `source_view` and `summary` make the table that the progress,
the page and the metrics show.
"""
