"""From the candidates of rows to the watermark of the source.

On executors `rowtime` computes the candidates; `reading.split_run` derives from them the split's watermark and the row
watermarks; `row_watermark` names the hidden columns that carry them through Spark. For each batch that is planned,
`idleness` decides when a split is idle (`planning.planned_splits` sets its status), `combine` takes the minimum over
active and paused splits, and `source_watermark` lets an idle source follow the others of its query
(`source_status.followed_ms`) and the clock where an option says so (`planning_time`). The result is in the batch's
offset. Spark takes the minimum over the sources. `processing_time` and `clock_only` are sources that follow the clock
(`watermark.processing-time`).
"""
