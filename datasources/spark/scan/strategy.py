"""From the watermark options to the strategy that a scan carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from datasources.errors import OptionError
from datasources.expressions import CompiledExpression
from datasources.source.api.abilities import AdditionalAttribute, ProcessingTime, ScanStrategy
from datasources.source.api.connector import SessionInfo
from datasources.source.watermarks.clock_only import ClockOnly
from datasources.spark.options.additional_attributes import AdditionalAttributeOptions
from datasources.spark.options.scan_options import WatermarkOptions

if TYPE_CHECKING:
    from datasources.expressions.evaluation.function_call import ReaderFunction


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltStrategy:
    """A strategy, and what only the driver needs to know of it.

    Attributes:
        delay_ms: by how much the watermark is behind the rowtime; None = not constant, and no option sets it.
        is_instant: whether the time attribute is a TIMESTAMP; a TIMESTAMP_NTZ cannot be compared with the clock.
    """

    strategy: ScanStrategy
    delay_ms: int | None
    is_instant: bool


def build_strategy(
    schema: pa.Schema,
    options: WatermarkOptions,
    session: SessionInfo,
    functions: Mapping[str, ReaderFunction],
    additional: Sequence[AdditionalAttributeOptions] = (),
) -> BuiltStrategy | None:
    """Return the strategy that the options describe over the columns of `schema`, or None if they describe none.

    The columns of ``schema`` include those of metadata; ``options`` are of the first attribute, and hold for all.

    Raises:
        ExpressionError, OptionError: an expression cannot be used, or processing time is combined with a TIMESTAMP_NTZ.
    """
    if options.rowtime is None:
        return None
    if options.expression is None:
        clock = ScanStrategy(
            rowtime=ClockOnly(text=options.rowtime, has_values=True),
            watermark=ClockOnly(text="the clock", has_values=False),
            params=options.params,
        )
        return BuiltStrategy(strategy=clock, delay_ms=0, is_instant=True)
    zone: dict[str, Any] = {"time_zone": session.time_zone, "ansi": session.ansi, "functions": functions}
    attribute, candidate = _compiled(schema, options.rowtime, options.rowtime_expression, options.expression, zone)
    is_instant = attribute.result_type.tz is not None
    if options.processing_time is not ProcessingTime.NEVER and not is_instant:
        raise OptionError(
            f"option 'watermark.processing-time' needs a time attribute of type TIMESTAMP: '{options.rowtime}' is a "
            f"TIMESTAMP_NTZ, which cannot be compared with the clock."
        )
    added, delays = [], [candidate.constant_delay_ms]
    for each in additional:
        other, watermark = _compiled(schema, each.attribute, each.rowtime, each.expression, zone)
        if other.result_type != attribute.result_type:
            raise OptionError(
                f"time attributes of one source are all TIMESTAMP or all TIMESTAMP_NTZ: '{options.rowtime}' and "
                f"'{each.attribute}' are not of one kind."
            )
        added.append(AdditionalAttribute(name=each.attribute, rowtime=other, watermark=watermark))
        delays.append(watermark.constant_delay_ms)
    constant = [delay for delay in delays if delay is not None]
    delay_ms = max(constant) if len(constant) == len(delays) else options.dedup_horizon_ms
    return BuiltStrategy(
        strategy=ScanStrategy(
            rowtime=attribute,
            watermark=candidate,
            params=options.params,
            attribute=None if options.rowtime_expression is None else options.rowtime,
            additional=tuple(added),
        ),
        delay_ms=delay_ms,
        is_instant=is_instant,
    )


def _compiled(
    schema: pa.Schema, name: str, rowtime: str | None, expression: str, zone: dict[str, Any]
) -> tuple[CompiledExpression, CompiledExpression]:
    """Return rowtime and candidate of one attribute."""
    from datasources.expressions.compiler.compile import compile_rowtime, compile_rowtime_expression, compile_watermark

    if rowtime is None:
        attribute = compile_rowtime(name, schema)
    else:
        attribute = compile_rowtime_expression(rowtime, schema, attribute=name, **zone)
    return attribute, compile_watermark(expression, schema, rowtime=attribute, **zone)
