"""What a batch that waits for more rows does not go with."""

from __future__ import annotations

from datasources.errors import OptionError
from datasources.source.api.abilities import ProcessingTime, WatermarkParams
from datasources.source.api.connector import ScanSource
from datasources.spark.options.load_gate_options import LoadGateOptions
from datasources.spark.options.scan_options import ScanOptions

__all__ = ["require_delay_fits"]


def require_delay_fits(source: ScanSource, wanted: ScanOptions, holding: LoadGateOptions) -> None:
    """Raise where batches of `source` wait for rows and another option forbids it.

    Raises:
        OptionError: naming both options and what to do.
    """
    if source.batch_delay is None:
        return
    rows, most = source.batch_delay.min_rows, wanted.max_rows_per_batch
    if most is not None and rows > most:
        raise OptionError(
            f"option 'minOffsetsPerTrigger' = '{rows}' is above 'maxOffsetsPerTrigger' = '{most}': a batch that waited "
            f"would be cut at once. Set it to {most} or less."
        )
    params = WatermarkParams() if source.strategy is None else source.strategy.params
    if params.alignment is not None:
        raise OptionError(
            f"option 'minOffsetsPerTrigger' does not go with the alignment group '{params.alignment.group}': all of "
            f"the group would wait with this source. Leave one of them out; 'maxOffsetsPerTrigger' goes with both."
        )
    if holding.load is not None:
        raise OptionError(
            f"option 'minOffsetsPerTrigger' does not go with 'scan.hold.name' = '{holding.load.name}': those who wait "
            f"for this source to be loaded would wait for its last rows too. Leave 'minOffsetsPerTrigger' out."
        )
    if params.processing_time is not ProcessingTime.NEVER:
        raise OptionError(
            "option 'minOffsetsPerTrigger' does not go with processing time: the watermark is the clock, and rows that "
            "wait would be late. Leave 'minOffsetsPerTrigger' out, or stay in event time."
        )
