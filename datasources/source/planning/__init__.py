"""The driver's decision what the next batch is.

`planner` is the sequence: read the clock once (`planning_clock`), reconcile the last batch with its tasks' reports
(`reconcile`), look for splits (`discovery`), exchange status with other sources (`group_exchange`), combine
watermarks, admit rows or emit a `heartbeat`. `batch_delay`, `available_now` and `idle_skip` are reasons to plan less;
`connector_state_tracker` serves connectors with a state. `planned_splits` and `planner_settings` are values;
`source_view` and `summary` are what users see.
"""
