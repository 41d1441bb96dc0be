"""A task on an executor: ranges become rows with row watermarks, heartbeats and a report.

`task_planning` builds tasks from an offset on the driver, `divided_ranges` more of them than there are splits.
`task_plan` is sent to executors, `task` runs it. `split_run` reads one range of one split: candidates, row watermarks,
late rows, and where alignment stops it; `split_dead_letters` has what of it the connector writes elsewhere. Then
`row_filter` applies a pushed-down condition, so that the watermark is that of all rows, and `partial_aggregates` puts
rows into groups where aggregates are pushed down.
"""
