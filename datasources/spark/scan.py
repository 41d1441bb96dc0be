"""From a user's options to a scan: the one path that batch, streaming, `load()` and `read_stream()` share."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from datasources.errors import OptionError
from datasources.expressions import CompiledExpression, compile_rowtime, compile_watermark
from datasources.formats.ddl import schema_ddl
from datasources.options import OptionGroup, lower_keys, parse_group, reject_unknown
from datasources.source.abilities import LateRows, ProcessingTime, ScanStrategy
from datasources.source.connector import ScanSource, SessionFacts
from datasources.source.offset import Identity
from datasources.source.planner import PlannerSettings
from datasources.spark.scan_options import AllIdle, OnChange, ScanOptions, SessionOptions, WatermarkOptions

__all__ = ["Scan", "build_scan"]

_LONGEST_PLAIN_TEXT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """A validated scan: the connector's source with its strategy, and the options that the framework reads.

    Attributes:
        source: the connector's part, strategy applied.
        watermark: the watermark options.
        max_rows_per_batch: None = everything that is there.
        delay_ms: what `spark.watermarkDelayMs` says for the time attribute; None = neither the expression nor an
            option says how late rows may be, so it is 0.
        session: zone and ANSI flag that the expressions were compiled for.
        is_instant: whether the time attribute is a TIMESTAMP; a TIMESTAMP_NTZ has no place on the clock.
    """

    source: ScanSource
    watermark: WatermarkOptions
    max_rows_per_batch: int | None
    delay_ms: int | None
    session: SessionFacts
    is_instant: bool = True

    @property
    def identity(self) -> Identity:
        """What a checkpoint of this scan belongs to."""
        return Identity(
            strategy=self._strategy_text(),
            schema=_fingerprint(schema_ddl(self.source.schema)),
            subscription=_fingerprint(self.source.subscription),
        )

    def planner_settings(self) -> PlannerSettings:
        """Return what planning needs of the options."""
        strategy = self.source.strategy
        return PlannerSettings(
            identity=self.identity,
            has_watermark=strategy is not None,
            idle_timeout_ms=0 if strategy is None else strategy.idle_timeout_ms,
            heartbeat_interval_ms=1_000 if strategy is None else strategy.heartbeat_interval_ms,
            max_ahead_ms=0 if strategy is None else strategy.max_ahead_ms,
            alignment=None if strategy is None else strategy.alignment,
            advances_when_idle=strategy is not None and strategy.advances_when_idle,
            processing_time=ProcessingTime.NEVER if strategy is None else strategy.processing_time,
            time_type="instant" if self.is_instant else "local",
            fail_on_data_loss=self.source.fail_on_data_loss,
            continue_on_change=self.watermark.on_change is OnChange.CONTINUE,
        )

    def _strategy_text(self) -> str:
        strategy = self.source.strategy
        if strategy is None:
            return "no watermark"
        zone = "" if self.session.time_zone is None else f" in {self.session.time_zone}"
        ansi = "" if self.session.ansi is None else f", ansi {str(self.session.ansi).lower()}"
        late = "" if strategy.late_rows is LateRows.KEEP else f", late rows {strategy.late_rows.value}"
        processing = strategy.processing_time
        turn = "" if processing is ProcessingTime.NEVER else f", processing time {processing.value}"
        text = f"{strategy.rowtime.text} AS {strategy.watermark.text}, {strategy.emit.value}{zone}{ansi}{late}{turn}"
        return _fingerprint(text)


def build_scan(connector: type[ScanSource], options: Mapping[str, str], defaults: Mapping[str, str]) -> Scan:
    """Return the scan that `options` describe.

    Args:
        connector: which source.
        options: as the user gave them, any case of keys.
        defaults: what register() bound: session facts and global options; the user's options come first.

    Raises:
        OptionError, ExpressionError, SchemaError: saying what to do.
    """
    merged = {**lower_keys(defaults), **lower_keys(options)}
    groups: list[type[OptionGroup]] = [*connector.option_groups, WatermarkOptions, ScanOptions, SessionOptions]
    reject_unknown(merged, groups, prefixes=connector.option_prefixes, what=connector.format_name)
    watermark = parse_group(WatermarkOptions, merged)
    facts = parse_group(SessionOptions, merged)
    session = SessionFacts(time_zone=facts.time_zone, ansi=facts.ansi)
    source = connector.create(merged, session)
    delay_ms, is_instant = None, True
    if watermark.rowtime is not None and watermark.expression is not None:
        strategy, compiled, is_instant = _strategy(source, watermark, session)
        source = source.apply_watermark(strategy)
        delay_ms = _delay_ms(compiled, watermark)
    return Scan(
        source=source,
        watermark=watermark,
        max_rows_per_batch=parse_group(ScanOptions, merged).max_rows_per_batch,
        delay_ms=delay_ms,
        session=session,
        is_instant=is_instant,
    )


def _strategy(
    source: ScanSource, options: WatermarkOptions, session: SessionFacts
) -> tuple[ScanStrategy, CompiledExpression, bool]:
    assert options.rowtime is not None
    assert options.expression is not None
    zone: dict[str, Any] = {"time_zone": session.time_zone, "ansi": session.ansi}
    rowtime = compile_rowtime(options.rowtime, source.schema)
    watermark = compile_watermark(options.expression, source.schema, rowtime=options.rowtime, **zone)
    is_instant = pa.types.is_timestamp(rowtime.result_type) and rowtime.result_type.tz is not None
    if options.processing_time is not ProcessingTime.NEVER and not is_instant:
        raise OptionError(
            f"option 'watermark.processing-time' needs a time attribute of type TIMESTAMP: '{options.rowtime}' is a "
            f"TIMESTAMP_NTZ, which has no place on the clock."
        )
    strategy = ScanStrategy(
        rowtime=rowtime,
        watermark=watermark,
        emit=options.emit_strategy,
        idle_timeout_ms=options.effective_idle_timeout_ms,
        null_rowtime=options.null_rowtime,
        max_ahead_ms=options.max_ahead_ms,
        heartbeat_interval_ms=options.effective_heartbeat_interval_ms,
        late_rows=options.late_rows,
        alignment=options.alignment,
        advances_when_idle=options.all_idle is AllIdle.PROCESSING_TIME,
        processing_time=options.processing_time,
    )
    return strategy, watermark, is_instant


def _delay_ms(watermark: CompiledExpression, options: WatermarkOptions) -> int | None:
    if watermark.constant_delay_ms is not None:
        return watermark.constant_delay_ms
    return options.dedup_horizon_ms


def _fingerprint(text: str) -> str:
    if len(text) <= _LONGEST_PLAIN_TEXT:
        return text
    return f"{text[:200]}... sha256:{hashlib.sha256(text.encode()).hexdigest()[:16]}"
