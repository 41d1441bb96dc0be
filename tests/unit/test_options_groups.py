"""One declaration gives key, type, default, documentation and error."""

from __future__ import annotations

import enum

import pytest
from pydantic import Field, ValidationError, model_validator

from datasources.errors import OptionError
from datasources.formats.api.format_options import FormatOptions
from datasources.kafka.client.client_config import PREFIXES
from datasources.kafka.startup.kafka_options import KafkaOptions
from datasources.options import (
    DurationMs,
    OptionGroup,
    Secret,
    lower_keys,
    parse_group,
    reject_unknown,
    render_options,
)
from datasources.spark.options.scan_options import ScanOptions, SessionOptions, WatermarkOptions
from watermark import EmitStrategy

GROUPS = (KafkaOptions, FormatOptions, WatermarkOptions, ScanOptions, SessionOptions)
ATTRIBUTE = {"watermark.for": "ts", "watermark.as": "ts"}


class Colour(enum.Enum):
    RED = "red"
    DARK_BLUE = "dark-blue"


class Paint(OptionGroup):
    """A group with an option of every kind."""

    name: str = Field(..., alias="paint.name", description="What it is called.")
    coats: int = Field(2, alias="paint.Coats", description="How often.", gt=0)
    colour: Colour = Field(Colour.RED, alias="colour", description="Which one.")
    lid: Colour | None = Field(None, alias="lid", description="Colour of the lid.")
    glossy: bool = Field(False, alias="glossy", description="Whether it shines.")
    drying: DurationMs = Field(90_000, alias="drying", description="How long it dries.")
    soaking: DurationMs | None = Field(None, alias="soaking", description="How long it soaks.")
    recipe: Secret = Field("", alias="recipe", description="Never told.")
    formula: Secret | None = Field(None, alias="formula", description="Never told either.")

    @model_validator(mode="after")
    def _red_does_not_shine(self):
        if self.glossy and self.colour is Colour.RED:
            raise ValueError("options 'glossy' and 'colour' = 'red' do not go together: set one of them.")
        return self


def error(group, options):
    with pytest.raises(OptionError) as caught:
        parse_group(group, lower_keys(options))
    assert caught.value.__cause__ is None
    return caught.value.message


def paint(**options: str):
    return parse_group(Paint, {"paint.name": "p", **options})


# -- keys --


@pytest.mark.parametrize("key", ["paint.Coats", "paint.coats", "PAINT.COATS"])
def test_keys_ignore_case(key):
    assert parse_group(Paint, lower_keys({"Paint.Name": "p", key: "3"})).coats == 3


def test_keys_of_other_groups_are_left_alone():
    assert paint(topic="orders").coats == 2


def test_two_spellings_of_one_key_with_one_value_are_one():
    assert lower_keys({"failOnDataLoss": "true", "failondataloss": "true"}) == {"failondataloss": "true"}


def test_two_spellings_of_one_key_with_two_values_are_an_error_that_does_not_show_them():
    with pytest.raises(OptionError, match="given twice with different values; keys ignore case") as caught:
        lower_keys({"kafka.sasl.password": "geheim", "KAFKA.sasl.password": "secret"})
    assert "geheim" not in str(caught.value)
    assert "secret" not in str(caught.value).replace("sasl.password", "")


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("subscribee", "'subscribe'"),
        ("startingoffset", "'startingOffsets'"),
        ("watermark.form", "'watermark.for'"),
        ("scan.watermark.idle-timout", "'scan.watermark.idle-timeout'"),
        ("maxoffsetspertriger", "'maxOffsetsPerTrigger'"),
        ("failondatalos", "'failOnDataLoss'"),
        ("format.onerror", "'format.on-error'"),
    ],
)
def test_an_unknown_key_is_refused_with_near_matches_as_they_are_documented(key, near):
    with pytest.raises(OptionError) as caught:
        reject_unknown({key: "1"}, GROUPS, prefixes=PREFIXES, what="tidemark-kafka")
    assert caught.value.message.startswith(f"unknown option '{key}' for tidemark-kafka. Did you mean ")
    assert near in caught.value.message
    assert "docs/options.md" in caught.value.message


def test_an_unknown_key_without_near_match_names_the_reference():
    with pytest.raises(OptionError, match=r"unknown option 'zzz' for tidemark-kafka\. All options: docs/options\.md"):
        reject_unknown({"zzz": "1"}, GROUPS, what="tidemark-kafka")


def test_the_value_of_an_unknown_key_is_not_shown():
    with pytest.raises(OptionError) as caught:
        reject_unknown({"pasword": "geheim"}, GROUPS, what="tidemark-kafka")
    assert "geheim" not in str(caught.value)


def test_keys_that_are_handed_through_are_known():
    reject_unknown(
        {"kafka.fetch.min.bytes": "1", "properties.x": "y"}, GROUPS, prefixes=PREFIXES, what="tidemark-kafka"
    )


def test_every_declared_key_is_known():
    keys = {str(field.alias).lower(): "1" for group in GROUPS for field in group.model_fields.values()}
    reject_unknown(keys, GROUPS, what="tidemark-kafka")


def test_no_two_groups_of_a_source_declare_the_same_key():
    keys = [str(field.alias).lower() for group in GROUPS for field in group.model_fields.values()]
    assert len(keys) == len(set(keys))


# -- values --


def test_a_missing_required_option_is_named_with_its_meaning():
    assert error(Paint, {}) == "option 'paint.name' is required: What it is called."


@pytest.mark.parametrize("key", ["drying", "soaking"])
@pytest.mark.parametrize("text", ["soon", "-1 s", "", "what is not here"])
def test_a_bad_duration_is_named_once_with_examples(key, text):
    message = error(Paint, {"paint.name": "p", key: text})
    assert message.startswith(f"option '{key}' = '{text}': is not a duration. Write for example '200 ms', '5 s'")
    assert "'?'" not in message


def test_durations_are_milliseconds():
    found = paint(drying="2 min", soaking="PT1S")
    assert (found.drying, found.soaking) == (120_000, 1_000)


@pytest.mark.parametrize("key", ["colour", "lid"])
def test_the_values_of_an_enumeration_are_listed(key):
    assert (
        error(Paint, {"paint.name": "p", key: "green"}) == f"option '{key}' = 'green': use one of 'red', 'dark-blue'."
    )


@pytest.mark.parametrize(("text", "reason"), [("0", "greater than 0"), ("-3", "greater than 0"), ("many", "integer")])
def test_a_bad_number_is_named_with_what_it_should_be(text, reason):
    message = error(Paint, {"paint.name": "p", "paint.coats": text})
    assert message.startswith(f"option 'paint.Coats' = '{text}': ")
    assert reason in message
    assert message.endswith(".")


@pytest.mark.parametrize(("text", "value"), [("true", True), ("FALSE", False), ("1", True), ("0", False)])
def test_truth_values_are_read(text, value):
    assert paint(glossy=text, colour="dark-blue").glossy is value


def test_a_bad_truth_value_is_named():
    assert error(Paint, {"paint.name": "p", "glossy": "maybe"}).startswith("option 'glossy' = 'maybe': ")


def test_a_wrong_combination_has_a_message_of_its_own():
    found = error(Paint, {"paint.name": "p", "glossy": "true"})
    assert found == "options 'glossy' and 'colour' = 'red' do not go together: set one of them."


# -- secrets --


def test_a_secret_is_not_shown():
    found = paint(recipe="geheim", formula="verborgen")
    assert (found.recipe, found.formula) == ("geheim", "verborgen")
    for shown in (repr(found), str(found), f"{found}", repr([found]), repr(paint(recipe="geheim"))):
        assert "geheim" not in shown
        assert "verborgen" not in shown
        assert "******" in shown


@pytest.mark.parametrize("key", ["recipe", "formula"])
def test_a_secret_is_not_shown_in_an_error(key):
    with pytest.raises(OptionError) as caught:
        parse_group(Paint, {"paint.name": "p", key: ["geheim"]})
    assert "******" in caught.value.message
    assert "geheim" not in caught.value.message


# -- groups are values --


def test_a_group_cannot_be_changed():
    with pytest.raises(ValidationError):
        paint().coats = 5


def test_a_group_is_made_of_keys_not_of_field_names():
    assert paint(coats="9").coats == 2


# -- the reference --


def test_the_reference_lists_key_type_default_and_meaning():
    assert render_options(Paint) == [
        ("paint.name", "text", "(required)", "What it is called."),
        ("paint.Coats", "number", "2", "How often."),
        ("colour", "red \\| dark-blue", "red", "Which one."),
        ("lid", "red \\| dark-blue", "(none)", "Colour of the lid."),
        ("glossy", "true \\| false", "false", "Whether it shines."),
        ("drying", "duration", "90 s", "How long it dries."),
        ("soaking", "duration", "(none)", "How long it soaks."),
        ("recipe", "text", "", "Never told."),
        ("formula", "text", "(none)", "Never told either."),
    ]


# -- the groups that every source shares --


def test_a_watermark_needs_both_sides():
    assert error(WatermarkOptions, {"watermark.for": "ts"}) == "option 'watermark.for' needs 'watermark.as' beside it."
    assert error(WatermarkOptions, {"watermark.as": "ts"}) == "option 'watermark.as' needs 'watermark.for' beside it."


@pytest.mark.parametrize(
    "key", ["scan.watermark.idle-timeout", "scan.watermark.heartbeat-interval", "watermark.max-ahead"]
)
def test_an_option_of_the_watermark_without_one_is_an_error(key):
    message = error(WatermarkOptions, {key: "5 s"})
    assert message == f"option '{key}' has no effect without a watermark: set 'watermark.for' and 'watermark.as'."


@pytest.mark.parametrize("key", ["table.exec.source.idle-timeout", "pipeline.auto-watermark-interval"])
def test_what_a_session_sets_for_all_sources_is_fine_without_a_watermark(key):
    parse_group(WatermarkOptions, {key: "5 s"})
    parse_group(WatermarkOptions, {"watermark.on-change": "continue"})


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, EmitStrategy.ON_PERIODIC),
        ({"scan.watermark.emit.strategy": "on-event"}, EmitStrategy.ON_EVENT),
        ({"pipeline.auto-watermark-interval": "0"}, EmitStrategy.ON_EVENT),
        (
            {"pipeline.auto-watermark-interval": "0", "scan.watermark.emit.strategy": "on-periodic"},
            EmitStrategy.ON_EVENT,
        ),
    ],
)
def test_an_interval_of_zero_means_on_event(options, expected):
    assert parse_group(WatermarkOptions, {**ATTRIBUTE, **options}).emit_strategy is expected


@pytest.mark.parametrize(
    ("options", "expected_ms"),
    [
        ({}, 0),
        ({"table.exec.source.idle-timeout": "5 s"}, 5_000),
        ({"scan.watermark.idle-timeout": "2 s", "table.exec.source.idle-timeout": "5 s"}, 2_000),
        ({"scan.watermark.idle-timeout": "0", "table.exec.source.idle-timeout": "5 s"}, 0),
    ],
)
def test_the_source_s_own_idle_timeout_comes_first_also_when_it_is_zero(options, expected_ms):
    assert parse_group(WatermarkOptions, {**ATTRIBUTE, **options}).effective_idle_timeout_ms == expected_ms


@pytest.mark.parametrize(
    ("options", "expected_ms"),
    [
        ({}, 1_000),
        ({"pipeline.auto-watermark-interval": "5 s"}, 5_000),
        ({"scan.watermark.heartbeat-interval": "300 ms"}, 300),
        ({"scan.watermark.heartbeat-interval": "300 ms", "pipeline.auto-watermark-interval": "5 s"}, 300),
    ],
)
def test_the_heartbeat_interval(options, expected_ms):
    assert parse_group(WatermarkOptions, {**ATTRIBUTE, **options}).effective_heartbeat_interval_ms == expected_ms


@pytest.mark.parametrize("key", ["scan.max-rows-per-batch", "maxOffsetsPerTrigger"])
def test_the_budget_has_two_names(key):
    assert parse_group(ScanOptions, lower_keys({key: "100"})).max_rows_per_batch == 100
    assert error(ScanOptions, {key: "0"}).startswith(f"option '{key}' = '0': ")


def test_both_names_of_the_budget_are_an_error():
    message = error(ScanOptions, {"scan.max-rows-per-batch": "100", "maxOffsetsPerTrigger": "100"})
    assert message == "options 'scan.max-rows-per-batch' and 'maxOffsetsPerTrigger' mean the same: set one."


def test_without_a_budget_everything_is_read():
    assert parse_group(ScanOptions, {}).max_rows_per_batch is None
