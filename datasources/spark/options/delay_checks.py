"""What a batch that waits for more rows does not go with."""

from __future__ import annotations

from datasources.errors import OptionError
from datasources.source.api.abilities import ProcessingTime
from datasources.source.api.connector import ScanSource
from datasources.spark.options.load_gate_options import LoadGateOptions
from datasources.spark.options.scan_options import ScanOptions

__all__ = ["require_delay_fits"]


def require_delay_fits(source: ScanSource, wanted: ScanOptions, load_gate: LoadGateOptions) -> None:
    """Raise where batches of `source` wait for rows and another option forbids it.

    Raises:
        OptionError: naming both options and what to do.
    """
    if source.batch_delay is None:
        return
    rows, max_rows = source.batch_delay.min_rows, wanted.max_rows_per_batch
    if max_rows is not None and rows > max_rows:
        raise OptionError(
            f"option 'minOffsetsPerTrigger' = '{rows}' is above 'maxOffsetsPerTrigger' = '{max_rows}': a batch that "
            f"waited would be cut at once. Set it to {max_rows} or less."
        )
    strategy = source.strategy
    if strategy is not None and strategy.alignment is not None:
        raise OptionError(
            f"option 'minOffsetsPerTrigger' does not go with the alignment group '{strategy.alignment.group}': all of "
            f"the group would wait with this source. Leave one of them out; 'maxOffsetsPerTrigger' goes with both."
        )
    if load_gate.load is not None:
        raise OptionError(
            f"option 'minOffsetsPerTrigger' does not go with 'scan.hold.name' = '{load_gate.load.name}': those who "
            f"wait for this source to be loaded would wait for its last rows too. Leave 'minOffsetsPerTrigger' out."
        )
    if strategy is not None and strategy.processing_time is not ProcessingTime.NEVER:
        raise OptionError(
            "option 'minOffsetsPerTrigger' does not go with processing time: the watermark is the clock, and rows that "
            "wait would be late. Leave 'minOffsetsPerTrigger' out, or stay in event time."
        )
