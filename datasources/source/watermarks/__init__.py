"""From the candidates of rows to the watermark of the source.

On executors `rowtime` computes the candidates; `reading.split_run` makes the split's watermark and the row watermarks
of them; `row_watermark` names the hidden columns that carry them through Spark. On the driver, for each batch,
`idleness` decides which splits are idle, `combine` takes the minimum over active splits, and `source_watermark` adds
the other sources of the query (`source_status`) and the clock (`planning_time`). The result is in the batch's offset.
`processing_time` and `clock_only` are sources that follow the clock.
"""
