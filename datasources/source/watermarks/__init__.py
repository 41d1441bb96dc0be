"""From the candidates of rows to the watermark of the source.

`rowtime` computes candidates, `row_watermark` names the hidden columns that carry them through Spark, `combine` takes
the minimum over active splits, `idleness` decides which splits are idle, `source_watermark` adds the other sources of
the query (`source_status`) and the clock (`planning_time`). `processing_time` and `clock_only` are sources that follow
the clock.
"""
