"""Alignment: no split and no source runs ahead of the slowest by more than the allowed drift.

`aligner` decides which candidate no record of the next batch may exceed; `reading.split_run` stops there. A split whose
next record is beyond it is paused. The aligner reads a few records ahead of each `pending_split` (`lookahead`, cached
in `candidates`), does not end a batch before ends that other sources rely on (`reserved_ends`) and shares the rows of a
batch (`scan.max-rows-per-batch`) by event time (`admission`). `positional` plans fixed ends for logs that may lose
records, such as compacted topics.
"""
