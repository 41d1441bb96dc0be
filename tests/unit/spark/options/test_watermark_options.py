"""The options of alignment, late rows, idleness and processing time, as a user gives them to a source.

What cannot work is refused before anything starts: in one sentence that names the option and what to do.
"""

from __future__ import annotations

import itertools

import pytest

from datasources.errors import OptionError, SchemaError
from datasources.kafka.source import KafkaSource
from datasources.scripted.source import ScriptedSource
from datasources.source.api.abilities import Alignment, LateRows, ProcessingTime
from datasources.spark.scan.scan import build_scan
from datasources.spark.scan.schema import spark_schema
from watermark import EmitStrategy

GROUP = "scan.watermark.alignment.group"
DRIFT = "scan.watermark.alignment.max-drift"
UPDATE = "scan.watermark.alignment.update-interval"
UNALIGNED = "pipeline.watermark-alignment.allow-unaligned-source-splits"
EMIT = "scan.watermark.emit.strategy"
INTERVAL = "pipeline.auto-watermark-interval"
LATE = "watermark.late-rows"
ALL_IDLE = "watermark.all-idle"
PROCESSING = "watermark.processing-time"
TIMEOUT = "scan.watermark.idle-timeout"
GLOBAL_TIMEOUT = "table.exec.source.idle-timeout"
ALIGNED = {GROUP: "g", DRIFT: "10 s"}
NTZ = {"watermark.for": "local", "watermark.as": "local - INTERVAL '5' SECOND"}
DURATIONS = "Write for example '200 ms', '5 s', '1 min', '2 h', '1 d' or 'PT1M30S'."


class Connector:
    """A connector with the options that it cannot do without."""

    def __init__(self, connector, **needed: str) -> None:
        self.name = connector.format_name
        self._connector = connector
        self._plain = {
            **{key.replace("_", "."): value for key, value in needed.items()},
            "schema": "id BIGINT, ts TIMESTAMP, local TIMESTAMP_NTZ",
            "scan.session.time-zone": "UTC",
            "scan.session.ansi": "true",
        }
        self._watermark = {"watermark.for": "ts", "watermark.as": "ts - INTERVAL '5' SECOND"}

    def scan(self, *, defaults=None, **options: str):
        return build_scan(self._connector, {**self._plain, **self._watermark, **options}, defaults or {})

    def plain_scan(self, **options: str):
        return build_scan(self._connector, {**self._plain, **options}, {})

    def error(self, *, plain=False, **options: str) -> str:
        build = self.plain_scan if plain else self.scan
        with pytest.raises(OptionError) as caught:
            build(**options)
        message = caught.value.message
        assert "\n" not in message
        assert message.endswith(".")
        return message


@pytest.fixture(params=["scripted", "kafka"])
def connector(request, tmp_path):
    if request.param == "scripted":
        return Connector(ScriptedSource, path=str(tmp_path))
    return Connector(KafkaSource, kafka_bootstrap_servers="broker:9092", subscribe="orders", format="json")


# -- alignment --


def test_without_options_nothing_is_aligned(connector):
    scan = connector.scan()
    assert scan.source.strategy.params.alignment is None
    assert scan.planner_settings().watermark.alignment is None


def test_a_group_with_a_drift_is_aligned_and_asks_once_per_second(connector):
    wanted = Alignment(group="g", max_drift_ms=10_000, update_interval_ms=1_000, aligns_splits=True)
    scan = connector.scan(**ALIGNED)
    assert scan.source.strategy.params.alignment == wanted
    assert scan.planner_settings().watermark.alignment == wanted


def test_the_planner_is_given_the_value_that_the_tasks_have(connector):
    scan = connector.scan(**ALIGNED, **{TIMEOUT: "5 s", ALL_IDLE: "processing-time", LATE: "mark"})
    assert scan.planner_settings().watermark is scan.source.strategy.params
    assert scan.source.strategy.params == scan.watermark.params != connector.scan().source.strategy.params


@pytest.mark.parametrize(("text", "millis"), [("250 ms", 250), ("2 min", 120_000), ("PT1S", 1_000), ("1", 1)])
def test_the_update_interval_is_a_duration(connector, text, millis):
    assert connector.scan(**ALIGNED, **{UPDATE: text}).source.strategy.params.alignment.update_interval_ms == millis


@pytest.mark.parametrize("text", ["0", "0 s", "PT0S"])
def test_a_drift_of_zero_is_accepted_and_aligns(connector, text):
    scan = connector.scan(**{GROUP: "g", DRIFT: text})
    assert scan.source.strategy.params.alignment == Alignment(group="g", max_drift_ms=0)


def test_keys_of_alignment_ignore_case(connector):
    options = {GROUP.upper(): "g", DRIFT.title(): "10 s"}
    assert connector.scan(**options).source.strategy.params.alignment == Alignment(group="g", max_drift_ms=10_000)


@pytest.mark.parametrize(
    ("options", "given", "missing"),
    [
        ({GROUP: "g"}, GROUP, f"'{DRIFT}'"),
        ({DRIFT: "1 s"}, DRIFT, f"'{GROUP}'"),
        ({DRIFT: "0"}, DRIFT, f"'{GROUP}'"),
        ({GROUP: "g", UPDATE: "1 s"}, GROUP, f"'{DRIFT}'"),
        ({DRIFT: "1 s", UPDATE: "1 s"}, DRIFT, f"'{GROUP}'"),
        ({UPDATE: "1 s"}, UPDATE, f"'{GROUP}' and '{DRIFT}'"),
        ({UPDATE: "0"}, UPDATE, f"'{GROUP}' and '{DRIFT}'"),
        ({GROUP: " "}, GROUP, f"'{DRIFT}'"),
    ],
)
def test_one_side_of_alignment_needs_the_other(connector, options, given, missing):
    assert connector.error(**options) == f"option '{given}' needs {missing} beside it."


@pytest.mark.parametrize("text", ["0", "0 ms", "PT0S"])
def test_an_update_interval_of_zero_is_an_error(connector, text):
    message = connector.error(**ALIGNED, **{UPDATE: text})
    assert message == f"option '{UPDATE}' must be longer than 0."


@pytest.mark.parametrize("name", ["", " ", "\t", "  \n"])
def test_a_blank_group_is_an_error(connector, name):
    message = connector.error(**{GROUP: name, DRIFT: "1 s"})
    assert message == f"option '{GROUP}' is blank: name the group, or leave it out."


@pytest.mark.parametrize("name", [" g", "g ", "g\u00a0"])
def test_a_group_whose_name_begins_or_ends_with_a_blank_is_an_error(connector, name):
    message = connector.error(**{GROUP: name, DRIFT: "1 s"})
    assert message.startswith(f"option '{GROUP}' = '{name}' begins or ends with a blank: ")
    assert message.endswith("Leave the blank out.")


def test_a_blank_inside_of_a_group_s_name_is_a_part_of_it(connector):
    assert connector.scan(**{GROUP: "my group", DRIFT: "1 s"}).source.strategy.params.alignment.group == "my group"


@pytest.mark.parametrize("key", [DRIFT, UPDATE])
@pytest.mark.parametrize("text", ["-1 s", "-1", "soon", "", "1 fortnight", "PT-1S", "1.5 s", "99999999999999999 d"])
def test_what_is_no_duration_is_named_with_examples(connector, key, text):
    message = connector.error(**{**ALIGNED, key: text})
    assert message == f"option '{key}' = '{text}': is not a duration. {DURATIONS}"


def test_splits_may_be_left_unaligned(connector):
    alignment = connector.scan(**ALIGNED, **{UNALIGNED: "true"}).source.strategy.params.alignment
    assert alignment == Alignment(group="g", max_drift_ms=10_000, aligns_splits=False)
    assert connector.scan(**ALIGNED, **{UNALIGNED: "false"}).source.strategy.params.alignment.aligns_splits


def test_the_session_s_unaligned_splits_are_harmless_without_a_group(connector):
    assert connector.scan(**{UNALIGNED: "true"}).source.strategy.params.alignment is None
    assert connector.scan(defaults={UNALIGNED: "true"}).source.strategy.params.alignment is None
    assert connector.plain_scan(**{UNALIGNED: "true"}).source.strategy is None


def test_an_invalid_boolean_names_what_is_accepted(connector):
    message = connector.error(**ALIGNED, **{UNALIGNED: "maybe"})
    assert message.startswith(f"option '{UNALIGNED}' = 'maybe': ")
    assert "true" in message
    assert "false" in message


# -- late rows --


@pytest.mark.parametrize(
    ("options", "late_rows", "emit"),
    [
        ({}, LateRows.KEEP, EmitStrategy.ON_PERIODIC),
        ({LATE: "keep"}, LateRows.KEEP, EmitStrategy.ON_PERIODIC),
        ({LATE: "keep", EMIT: "on-event"}, LateRows.KEEP, EmitStrategy.ON_EVENT),
        ({LATE: "mark"}, LateRows.MARK, EmitStrategy.ON_PERIODIC),
        ({LATE: "mark", EMIT: "on-periodic"}, LateRows.MARK, EmitStrategy.ON_PERIODIC),
        ({LATE: "mark", EMIT: "on-event"}, LateRows.MARK, EmitStrategy.ON_EVENT),
        ({LATE: "drop"}, LateRows.DROP, EmitStrategy.ON_EVENT),
        ({LATE: "drop", EMIT: "on-event"}, LateRows.DROP, EmitStrategy.ON_EVENT),
        ({LATE: "drop", INTERVAL: "0"}, LateRows.DROP, EmitStrategy.ON_EVENT),
        ({LATE: "drop", INTERVAL: "500 ms"}, LateRows.DROP, EmitStrategy.ON_EVENT),
        ({LATE: "drop", INTERVAL: "0", EMIT: "on-periodic"}, LateRows.DROP, EmitStrategy.ON_EVENT),
    ],
)
def test_late_rows_decide_the_default_of_the_emit_strategy(connector, options, late_rows, emit):
    strategy = connector.scan(**options).source.strategy
    assert (strategy.params.late_rows, strategy.params.emit) == (late_rows, emit)


@pytest.mark.parametrize("more", [{}, {INTERVAL: "200 ms"}, {INTERVAL: "1 s"}])
def test_dropping_late_rows_on_periodic_is_an_error(connector, more):
    message = connector.error(**{LATE: "drop", EMIT: "on-periodic"}, **more)
    assert message == (
        "option 'watermark.late-rows' = 'drop' is exact and so needs 'scan.watermark.emit.strategy' = 'on-event', "
        "which is the default with it: leave the strategy out, or use 'mark'."
    )


# -- idleness and processing time --


@pytest.mark.parametrize(
    ("options", "advances"),
    [
        ({}, False),
        ({ALL_IDLE: "hold"}, False),
        ({ALL_IDLE: "hold", TIMEOUT: "5 s"}, False),
        ({ALL_IDLE: "processing-time", TIMEOUT: "5 s"}, True),
        ({ALL_IDLE: "processing-time", GLOBAL_TIMEOUT: "5 s"}, True),
        ({ALL_IDLE: "processing-time", GLOBAL_TIMEOUT: "0", TIMEOUT: "1 ms"}, True),
    ],
)
def test_the_watermark_goes_on_while_all_is_idle_if_splits_can_be_idle(connector, options, advances):
    scan = connector.scan(**options)
    assert scan.source.strategy.params.advances_when_idle is advances
    assert scan.planner_settings().watermark.advances_when_idle is advances


@pytest.mark.parametrize(
    "timeouts", [{}, {TIMEOUT: "0"}, {GLOBAL_TIMEOUT: "0"}, {TIMEOUT: "0 s", GLOBAL_TIMEOUT: "5 s"}]
)
def test_going_on_while_all_is_idle_needs_an_idle_timeout(connector, timeouts):
    message = connector.error(**{ALL_IDLE: "processing-time"}, **timeouts)
    assert message == (
        "option 'watermark.all-idle' = 'processing-time' has no effect without an idle timeout: set "
        "'scan.watermark.idle-timeout'."
    )


def test_a_global_timeout_that_the_session_sets_is_enough(connector):
    scan = connector.scan(defaults={GLOBAL_TIMEOUT: "5 s"}, **{ALL_IDLE: "processing-time"})
    assert scan.source.strategy.params.advances_when_idle


@pytest.mark.parametrize("from_when", ProcessingTime)
def test_processing_time_reaches_the_planner(connector, from_when):
    scan = connector.scan(**{PROCESSING: from_when.value})
    assert scan.source.strategy.params.processing_time is from_when
    assert scan.planner_settings().watermark.processing_time is from_when


@pytest.mark.parametrize("from_when", ["always", "after-backlog"])
def test_a_timestamp_ntz_cannot_be_compared_with_the_clock(connector, from_when):
    message = connector.error(**NTZ, **{PROCESSING: from_when})
    assert message == (
        "option 'watermark.processing-time' needs a time attribute of type TIMESTAMP: 'local' is a TIMESTAMP_NTZ, "
        "which cannot be compared with the clock."
    )


def test_a_timestamp_ntz_that_stays_in_event_time_is_of_the_local_kind(connector):
    assert connector.scan(**NTZ).planner_settings().time_type == "local"
    assert connector.scan(**NTZ, **{PROCESSING: "never"}).planner_settings().time_type == "local"
    assert connector.scan().planner_settings().time_type == "instant"


# -- every option of them --

VALUES = {
    GROUP: "g",
    DRIFT: "1 s",
    UPDATE: "1 s",
    LATE: "keep",
    ALL_IDLE: "hold",
    PROCESSING: "never",
    EMIT: "on-event",
    TIMEOUT: "1 s",
}


@pytest.mark.parametrize("key", sorted(VALUES))
def test_an_option_of_the_watermark_needs_a_watermark(connector, key):
    message = connector.error(plain=True, **{key: VALUES[key]})
    assert message == f"option '{key}' has no effect without a watermark: set 'watermark.for' and 'watermark.as'."


@pytest.mark.parametrize(
    ("key", "choices"),
    [
        (LATE, "'keep', 'drop', 'mark', 'dead-letter'"),
        (ALL_IDLE, "'hold', 'processing-time'"),
        (PROCESSING, "'never', 'after-backlog', 'always'"),
        (EMIT, "'on-event', 'on-periodic'"),
    ],
)
@pytest.mark.parametrize("value", ["", "perhaps", "KEEP"])
def test_a_value_that_is_none_of_the_choices_is_named_with_them(connector, key, choices, value):
    message = connector.error(**{key: value})
    found = message.removeprefix(f"option '{key}' = '{value}': use one of ").removesuffix(".")
    assert sorted(found.split(", ")) == sorted(choices.split(", "))


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("scan.watermark.alignment.groups", GROUP),
        ("scan.watermark.alignment.grp", GROUP),
        ("scan.watermark.alignment.maxdrift", DRIFT),
        ("scan.watermark.alignment.max.drift", DRIFT),
        ("scan.watermark.alignment.update-intervall", UPDATE),
        ("scan.watermark.alignment.interval", UPDATE),
        ("pipeline.watermark-alignment.allow-unaligned-source-split", UNALIGNED),
        ("watermark.late-row", LATE),
        ("watermark.late.rows", LATE),
        ("watermark.all-idel", ALL_IDLE),
        ("watermark.processingtime", PROCESSING),
    ],
)
def test_an_unknown_key_is_refused_with_the_one_that_was_meant(connector, key, near):
    message = connector.error(**{key: "1 s"})
    assert message.startswith(f"unknown option '{key}' for {connector.name}. Did you mean '")
    assert f"'{near}'" in message.split("All options")[0]


# -- what a checkpoint belongs to --


def test_late_rows_and_processing_time_are_part_of_the_checkpoint_s_identity(connector):
    texts = {
        (late, from_when): connector.scan(**{LATE: late, EMIT: "on-event", PROCESSING: from_when}).identity.strategy
        for late, from_when in itertools.product(["keep", "drop", "mark"], ["never", "after-backlog", "always"])
    }
    assert len(set(texts.values())) == len(texts) == 9
    assert texts["keep", "never"] == "ts AS ts - INTERVAL '5' SECOND, on-event in UTC, ansi true"
    assert texts["mark", "always"].endswith(", late rows mark, processing time always")


def test_a_strategy_without_the_new_options_has_the_text_that_older_checkpoints_hold(connector):
    assert connector.scan().identity.strategy == "ts AS ts - INTERVAL '5' SECOND, on-periodic in UTC, ansi true"


@pytest.mark.parametrize(
    "options",
    [ALIGNED, {**ALIGNED, UPDATE: "2 s"}, {UNALIGNED: "true"}, {TIMEOUT: "5 s", ALL_IDLE: "processing-time"}],
)
def test_what_moves_no_row_watermark_may_change_between_runs(connector, options):
    assert connector.scan(**options).identity == connector.scan().identity


# -- the column of the mark --


@pytest.mark.parametrize(
    ("options", "added"),
    [
        ({}, ["_watermark", "_heartbeat"]),
        ({LATE: "keep"}, ["_watermark", "_heartbeat"]),
        ({LATE: "drop"}, ["_watermark", "_heartbeat"]),
        ({LATE: "mark"}, ["_late", "_watermark", "_heartbeat"]),
    ],
)
def test_only_marked_rows_have_the_column_of_the_mark(connector, options, added):
    assert spark_schema(connector.scan(**options)).names == ["id", "ts", "local", *added]


def test_the_mark_is_a_truth_value_that_may_be_null_and_the_hidden_columns_never_are(connector):
    schema = spark_schema(connector.scan(**{LATE: "mark"}))
    found = [(f.name, f.dataType.simpleString(), f.nullable) for f in schema.fields[3:]]
    assert found == [("_late", "boolean", True), ("_watermark", "timestamp", False), ("_heartbeat", "boolean", False)]


@pytest.mark.parametrize("name", ["_late", "_LATE", "_watermark", "_heartbeat"])
@pytest.mark.parametrize("late", ["keep", "mark"])
def test_a_column_of_the_user_cannot_have_a_name_that_tidemark_adds(connector, name, late):
    with pytest.raises(SchemaError, match=f"'{name}' is the name of a column that Tidemark adds. Choose another one"):
        connector.scan(schema=f"id BIGINT, ts TIMESTAMP, {name} BOOLEAN", **{LATE: late})
