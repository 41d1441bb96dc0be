"""What a connector implements, and the values that it shares with the framework.

`connector` describes one scan; `enumerator` lists splits and their ends on the driver; `reader` reads a range on an
executor; `abilities` are the optional capabilities (Flink's abilities); `connector_state` is for connectors whose
offsets hold more than positions. `split` and `scan_range` are the values: a split's progress, a range to be read for
its watermark only. Rules without I/O ask their questions through `dialogue`.
"""
