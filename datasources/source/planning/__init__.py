"""The driver's decision what the next batch is.

`planner` observes and applies, `decide` is the sequence of rules in between: from values to values (`planner_state`,
`planner_settings`), without a clock and without I/O. The rules are functions: `reconcile` the last batch with the
reports of its tasks, look for splits (`discovery`, `planned_splits`), emit a `heartbeat`; `batch_delay`,
`available_now` and `idle_skip` are reasons to plan less. `connector_state_tracker` serves connectors with a state;
`source_view` and `summary` are what users see.
"""
