"""Frames of an OVER window as computations on sorted columns, without Spark and without state.

`frame_spec` describes a frame, `frame_bounds` finds its rows, `aggregates` and `running_sums` compute over them.
`late_rows` and `cleanup_timers` follow Flink's rules for rows behind the watermark.
"""
