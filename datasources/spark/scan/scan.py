"""From a user's options to a scan: the one path that batch, streaming, `load()` and `read_stream()` share."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from datasources.arrow_types import Path, paths_of
from datasources.errors import OptionError
from datasources.formats.schema_text.ddl import schema_ddl
from datasources.options import OptionGroup, lower_keys, parse_group, reject_unknown
from datasources.source.api.abilities import LateRows, ProcessingTime, RowCondition, WatermarkParams
from datasources.source.api.aggregation import PartialAggregation
from datasources.source.api.connector import ScanSource, SessionInfo
from datasources.source.api.packing import RowPacking
from datasources.source.checkpoint.load_gate_state import LoadGateSettings, LoadSettings
from datasources.source.checkpoint.offset import Identity
from datasources.source.planning.planner import PlannerSettings
from datasources.spark.options.additional_attributes import (
    additional_attribute_options,
    is_numbered,
    require_compatible,
)
from datasources.spark.options.code_options import refuse_code
from datasources.spark.options.load_gate_options import LoadGateOptions
from datasources.spark.options.scan_options import (
    AGGREGATION,
    SHARED_GROUPS,
    OnChange,
    ScanOptions,
    SessionOptions,
    WatermarkOptions,
)
from datasources.spark.scan.aggregation import build_aggregation, require_certain
from datasources.spark.scan.packing import build_packing
from datasources.spark.scan.pushed_down import delivered_columns, with_decoded_columns, with_metadata_columns
from datasources.spark.scan.strategy import build_strategy
from watermark import EmitStrategy

if TYPE_CHECKING:
    from datasources.expressions.evaluation.function_call import ReaderFunction

_NO_FUNCTIONS: Final[Mapping[str, ReaderFunction]] = MappingProxyType({})
_LONGEST_PLAIN_TEXT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """A validated scan: the connector's source with its strategy, and the options that the framework reads.

    Attributes:
        source: the connector's part, strategy applied.
        watermark: the watermark options.
        max_rows_per_batch: None = all available rows.
        delay_ms: `spark.watermarkDelayMs` of the time attribute; None = neither the expression nor an
            option bounds how late rows may be, so it is 0.
        session: zone and ANSI flag that the expressions were compiled for.
        is_instant: whether the time attribute is a TIMESTAMP; a TIMESTAMP_NTZ cannot be compared with the clock.
        columns: the data columns that are delivered, of a STRUCT perhaps not all fields; None = all of the source's.
        condition: which rows are delivered; None = all.
        aggregation: partial aggregates that are delivered in place of rows; None = the rows.
        packing: packed rows that are delivered in place of rows; None = the rows.
        gate: which builds the source waits for; None = it is not a probe.
        load: the build's name and when it is loaded; None = it is not a build.
        is_attached: whether Spark follows the watermark, see `ScanOptions.attached`.
        statement: the statement over tables that change that reads it; "" = it is read as it is.
    """

    source: ScanSource
    watermark: WatermarkOptions
    max_rows_per_batch: int | None
    delay_ms: int | None
    session: SessionInfo
    is_instant: bool = True
    columns: pa.Schema | None = None
    condition: RowCondition | None = None
    aggregation: PartialAggregation | None = None
    packing: RowPacking | None = None
    gate: LoadGateSettings | None = None
    load: LoadSettings | None = None
    is_attached: bool = False
    statement: str = ""

    @property
    def replacement(self) -> PartialAggregation | RowPacking | None:
        """What is delivered in place of rows; None = the rows."""
        return self.aggregation if self.packing is None else self.packing

    @property
    def identity(self) -> Identity:
        """What a checkpoint of this scan belongs to."""
        return Identity(
            strategy=self._strategy_text(),
            schema=_fingerprint(schema_ddl(self.source.schema)),
            subscription=_fingerprint(self.source.subscription),
            isolation=self.source.isolation,
            statement=self.statement,
        )

    def planner_settings(self) -> PlannerSettings:
        """Return what planning needs of the options."""
        strategy = self.source.strategy
        return PlannerSettings(
            identity=self.identity,
            has_watermark=strategy is not None,
            watermark=WatermarkParams() if strategy is None else strategy.params,
            time_type="instant" if self.is_instant else "local",
            fail_on_data_loss=self.source.fail_on_data_loss,
            continue_on_change=self.watermark.on_change is OnChange.CONTINUE,
            gate=self.gate,
            load=self.load,
            batch_delay=self.source.batch_delay,
            writes_dead_letters=self.source.writes_dead_letters,
        )

    def _strategy_text(self) -> str:
        strategy = self.source.strategy
        if strategy is None:
            return "no watermark"
        zone = "" if self.session.time_zone is None else f" in {self.session.time_zone}"
        ansi = "" if self.session.ansi is None else f", ansi {str(self.session.ansi).lower()}"
        late_rows = strategy.params.late_rows
        if late_rows is LateRows.DEAD_LETTER:
            late_rows = LateRows.DROP  # equal rows: a checkpoint may go on with the other one
        late = "" if late_rows is LateRows.KEEP else f", late rows {late_rows.value}"
        processing = strategy.params.processing_time
        mode = "" if processing is ProcessingTime.NEVER else f", processing time {processing.value}"
        name = "" if strategy.attribute is None else f"{strategy.attribute} = "
        text = f"{name}{strategy.rowtime.text} AS {strategy.watermark.text}, {strategy.params.emit.value}"
        text += "".join(f"; {a.name} = {a.rowtime.text} AS {a.watermark.text}" for a in strategy.additional)
        text = f"{text}{zone}{ansi}{late}{mode}"
        return _fingerprint(text)


def build_scan(
    connector: type[ScanSource],
    options: Mapping[str, str],
    defaults: Mapping[str, str],
    functions: Mapping[str, ReaderFunction] = _NO_FUNCTIONS,
    *,
    allows_code: bool = False,
) -> Scan:
    """Return the scan that `options` describe.

    Args:
        connector: which source.
        options: as the user gave them, any case of keys.
        defaults: the settings that register() bound, of the session and global ones; the user's options come first.
        functions: the user's own functions that expressions may call, by name.
        allows_code: whether options may load libraries and run commands.

    Raises:
        OptionError, ExpressionError, SchemaError: saying what to do.
    """
    merged = {**lower_keys(defaults), **lower_keys(options)}
    groups: list[type[OptionGroup]] = [*connector.option_groups, *SHARED_GROUPS]
    additional = additional_attribute_options(merged)
    merged = {key: value for key, value in merged.items() if not is_numbered(key)}
    reject_unknown(
        merged,
        groups,
        prefixes=connector.option_prefixes,
        refused=connector.refused_options,
        what=connector.format_name,
    )
    if not allows_code:
        refuse_code(connector, merged)
    watermark = parse_group(WatermarkOptions, merged)
    require_compatible(additional, watermark)
    wanted = parse_group(ScanOptions, merged)
    load_gate = parse_group(LoadGateOptions, merged)
    info = parse_group(SessionOptions, merged)
    session = SessionInfo(time_zone=info.time_zone, ansi=info.ansi)
    source = with_metadata_columns(connector.create(merged, session), wanted.metadata)
    built = build_strategy(source.schema, watermark, session, functions, additional)
    if built is not None:
        source = source.apply_watermark(built.strategy)
    elif load_gate.time_ms is not None:
        raise OptionError(
            "option 'scan.load-completed.timestamp-millis' needs a watermark, which has to reach it: set "
            "'watermark.for' and 'watermark.as', or leave the option out."
        )
    _require_delay_fits(source, wanted, load_gate)
    _require_divisible(source)
    aggregation = None
    if wanted.aggregation is not None:
        aggregation = build_aggregation(wanted.aggregation, source.schema, session, functions)
        _require_groupable(source, aggregation)
    packing = None
    if wanted.packing is not None:
        packing = build_packing(wanted.packing, source.schema, session, functions)
    columns = delivered_columns(source.schema, wanted.columns)
    condition = None
    if wanted.filter is not None:
        from datasources.expressions.compiler.compile import compile_filter

        condition = compile_filter(
            wanted.filter, source.schema, time_zone=session.time_zone, ansi=session.ansi, functions=functions
        )
        if aggregation is not None or packing is not None:
            require_certain(condition)
    return Scan(
        source=with_decoded_columns(source, _read_paths(source, columns, packing or aggregation), condition),
        watermark=watermark,
        max_rows_per_batch=wanted.max_rows_per_batch,
        delay_ms=None if built is None else built.delay_ms,
        session=session,
        is_instant=built is None or built.is_instant,
        columns=columns,
        condition=condition,
        aggregation=aggregation,
        packing=packing,
        gate=load_gate.gate,
        load=load_gate.load,
        is_attached=wanted.attached,
        statement=wanted.statement,
    )


def _read_paths(
    source: ScanSource, delivered: pa.Schema | None, replacement: PartialAggregation | RowPacking | None
) -> Iterable[Path] | None:
    """Return what to decode: to count rows takes one column, whichever."""
    if replacement is not None:
        return replacement.paths or [(source.schema.names[0],)]
    return None if delivered is None else paths_of(delivered)


def _require_groupable(source: ScanSource, aggregation: PartialAggregation) -> None:
    strategy = source.strategy
    if aggregation.panes is None:
        if strategy is not None:
            raise OptionError(f"option '{AGGREGATION}' without panes is for sources without a watermark.")
        return
    if strategy is None or strategy.params.late_rows is LateRows.MARK:
        raise OptionError(
            f"option '{AGGREGATION}' needs a watermark that does not mark late rows: set 'watermark.late-rows' to "
            f"'keep', 'drop' or 'dead-letter'."
        )


def _fingerprint(text: str) -> str:
    if len(text) <= _LONGEST_PLAIN_TEXT:
        return text
    return f"{text[:200]}... sha256:{hashlib.sha256(text.encode()).hexdigest()[:16]}"


_ONE_TASK = (
    "Else leave it out: repartition(n) on the DataFrame spreads the work behind the reader, more partitions of the "
    "topic spread the reading."
)


def _require_delay_fits(source: ScanSource, wanted: ScanOptions, load_gate: LoadGateOptions) -> None:
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
    params = None if source.strategy is None else source.strategy.params
    if params is not None and params.alignment is not None:
        raise OptionError(
            f"option 'minOffsetsPerTrigger' does not go with the alignment group '{params.alignment.group}': all "
            f"of the group would wait with this source. Leave one of them out; 'maxOffsetsPerTrigger' goes with both."
        )
    if load_gate.load is not None:
        raise OptionError(
            f"option 'minOffsetsPerTrigger' does not go with 'scan.hold.name' = '{load_gate.load.name}': those who "
            f"wait for this source to be loaded would wait for its last rows too. Leave 'minOffsetsPerTrigger' out."
        )
    if params is not None and params.processing_time is not ProcessingTime.NEVER:
        raise OptionError(
            "option 'minOffsetsPerTrigger' does not go with processing time: the watermark is the clock, and rows that "
            "wait would be late. Leave 'minOffsetsPerTrigger' out, or stay in event time."
        )


def _require_divisible(source: ScanSource) -> None:
    """Raise where tasks shall share the range of a split and a row's watermark depends on the rows before it.

    Raises:
        OptionError: naming both options and what to do.
    """
    if source.division is None or source.strategy is None:
        return
    key = "minPartitions" if source.division.min_tasks is not None else "maxRecordsPerPartition"
    params = source.strategy.params
    if params.alignment is not None:
        raise OptionError(
            f"option '{key}' does not go with the alignment group '{params.alignment.group}': a partition is read up "
            f"to its first record beyond the bound, which only a task that reads all of it can find. {_ONE_TASK}"
        )
    if params.emit is EmitStrategy.ON_EVENT:
        raise OptionError(
            f"option '{key}' does not go with 'scan.watermark.emit.strategy' = 'on-event': the watermark of each row "
            f"follows from all rows before it in its partition, so one task has to read them in their order. With "
            f"'on-periodic' the option works. {_ONE_TASK}"
        )
