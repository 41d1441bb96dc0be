"""The metrics, read back with Prometheus' own parser."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from datasources.observe.prometheus import METRICS, render_metrics
from tests.support.project import ROOT
from tests.support.source.observed_tables import NOW_MS, hold, load, log, snapshot, split, table

DOCS = ROOT / "docs" / "observe.md"
NO_ANSWER = {"unanswered_since": NOW_MS - 12_000, "unanswered_reason": "timed out"}
SOURCE = {"source": "run-1", "name": "topic orders", "query": "6c1f2a", "group": "g"}


def samples(*tables):
    """{(name, labels): value} of everything that is rendered; a sample that comes twice is an error."""
    found = {}
    for family in text_string_to_metric_families(render_metrics(tables).decode("utf-8")):
        for sample in family.samples:
            key = sample.name, frozenset(sample.labels.items())
            assert key not in found, key
            found[key] = sample.value
    return found


def in_units(name, expected):
    """Values as the tables have them, milliseconds, in the unit that the name of a metric ends with."""
    if not name.endswith("_seconds"):
        return expected
    if isinstance(expected, dict):
        return {split: None if each is None else each / 1_000 for split, each in expected.items()}
    return expected / 1_000


def value(found, name, /, **labels):
    return found.get((f"tidemark_{name}", frozenset(labels.items())))


@pytest.fixture
def found():
    """The metrics of an aligned source with an active split, a paused one, and one that never had a record."""
    return samples(
        table(
            split(
                "orders-0", watermark=NOW_MS - 5_000, lag=17, drift=0, late_rows=3, max_lateness_ms=740, dead_letters=2
            ),
            split("orders-1", watermark=NOW_MS - 1_000, drift=4_000, status="paused", paused_since=NOW_MS - 9_000),
            split("orders-2", watermark=None, status="idle", idle_since=NOW_MS - 60_000, **NO_ANSWER),
            group="g",
            max_allowed=NOW_MS - 1_000,
            late_rows=5,
            max_lateness_ms=980,
            null_rowtime_rows=1,
            ahead_rows=2,
            bad_records=3,
            dead_letters=8,
            null_values=4,
            lost_positions=6,
            unanswered_splits=1,
            snapshot=snapshot(),
            log=log(),
            commitsSucceeded=7,
            commitsFailed=1,
            hold=hold(),
            load=load(),
        )
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "split_watermark_timestamp_seconds",
            {"orders-0": NOW_MS - 5_000, "orders-1": NOW_MS - 1_000, "orders-2": None},
        ),
        ("split_watermark_alignment_drift_seconds", {"orders-0": 0, "orders-1": 4_000, "orders-2": None}),
        ("split_pending_records", {"orders-0": 17, "orders-1": 0, "orders-2": 0}),
        ("split_watermark_lag_seconds", {"orders-0": 5_000, "orders-1": 1_000, "orders-2": None}),
        ("split_late_records_total", {"orders-0": 3, "orders-1": 0, "orders-2": 0}),
        ("split_max_lateness_seconds", {"orders-0": 740, "orders-1": 0, "orders-2": 0}),
        ("split_dead_letters_total", {"orders-0": 2, "orders-1": 0, "orders-2": 0}),
        ("split_unanswered_seconds", {"orders-0": None, "orders-1": None, "orders-2": 12_000}),
    ],
)
def test_each_split_has_its_metrics_and_what_is_not_known_is_left_out(found, name, expected):
    assert {split: value(found, name, **SOURCE, split=split) for split in expected} == in_units(name, expected)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("watermark_timestamp_seconds", NOW_MS - 5_000),
        ("watermark_lag_seconds", 5_000),
        ("max_desired_watermark_timestamp_seconds", NOW_MS - 1_000),
        ("batch", 17),
        ("last_planned_timestamp_seconds", NOW_MS),
        ("splits", 3),
        ("unanswered_splits", 1),
        ("late_records_total", 5),
        ("max_lateness_seconds", 980),
        ("null_rowtime_records_total", 1),
        ("ahead_records_total", 2),
        ("bad_records_total", 3),
        ("dead_letters_total", 8),
        ("null_values_total", 4),
        ("lost_positions_total", 6),
        ("snapshotting", 1),
        ("snapshot_splits_processed_total", 12),
        ("snapshot_splits_remaining", 28),
        ("snapshot_records_total", 600_000),
        ("snapshot_records_remaining", 1_400_000),
        ("snapshot_records_per_second", 55_000),
        ("snapshot_time_left_seconds", 25_000),
        ("log_unread_age_seconds", 100_000_000),
        ("log_retention_seconds", 172_800_000),
        ("commits_succeeded_total", 7),
        ("commits_failed_total", 1),
        ("held", 1),
        ("held_seconds", 9_000),
        ("loading", 1),
        ("load_records_remaining", 1_200),
    ],
)
def test_a_source_has_its_watermark_and_its_totals(found, name, expected):
    assert value(found, f"source_{name}", **SOURCE) == in_units(name, expected)


def test_a_split_has_exactly_one_of_the_statuses(found):
    for name, status in (("orders-0", "active"), ("orders-1", "paused"), ("orders-2", "idle")):
        has = {
            each: value(found, "split_status", **SOURCE, split=name, status=each)
            for each in ("active", "paused", "idle", "finished")
        }
        assert has == {each: float(each == status) for each in has}


def test_nothing_is_rendered_that_is_not_listed(found):
    listed = {meaning.name + ("_total" if meaning.is_counter else "") for meaning in METRICS}
    assert {name for name, _ in found} == listed


def test_a_snapshot_that_is_done_has_nothing_left_and_one_that_just_began_no_time():
    labels = {**SOURCE, "group": ""}
    done = samples(table(snapshot=snapshot(status="done", table=None, chunks=40, rows=9, rows_estimated=9)))
    assert value(done, "source_snapshotting", **labels) == 0
    assert value(done, "source_snapshot_splits_remaining", **labels) == 0
    assert value(done, "source_snapshot_records_remaining", **labels) == 0
    assert (
        value(samples(table(snapshot=snapshot(seconds_left=None))), "source_snapshot_time_left_seconds", **labels)
        is None
    )
    assert not any("snapshot" in name for name, _ in samples(table()))


def test_an_age_or_a_retention_that_is_not_known_is_left_out():
    labels = {**SOURCE, "group": ""}
    found = samples(table(log=log(unread_age_ms=None, retention_ms=None)))
    assert value(found, "source_log_unread_age_seconds", **labels) is None
    assert value(found, "source_log_retention_seconds", **labels) is None
    assert not any(word in name for name, _ in samples(table()) for word in ("log_", "commits"))


def test_a_source_that_was_released_is_held_no_more_and_one_that_is_loaded_has_nothing_left():
    labels = {**SOURCE, "group": ""}
    found = samples(table(hold=hold(status="released", released=4), load=load(status="loaded", unread=0)))
    assert value(found, "source_held", **labels) == 0
    assert value(found, "source_held_seconds", **labels) is None
    assert value(found, "source_loading", **labels) == 0
    assert value(found, "source_load_records_remaining", **labels) == 0
    plain = samples(table())
    assert not any(word in name for name, _ in plain for word in ("held", "loading", "load_"))


def test_a_source_without_watermark_alignment_or_query_has_no_such_samples():
    found = samples(table(split("a", watermark=None), watermark=None, query=None))
    names = {name for name, _ in found}
    assert not names & {
        f"tidemark_source_{name}"
        for name in ("watermark_timestamp_seconds", "watermark_lag_seconds", "max_desired_watermark_timestamp_seconds")
    }
    labels = {"source": "run-1", "name": "topic orders", "query": "", "group": ""}
    assert value(found, "source_batch", **labels) == 17


@pytest.mark.parametrize(
    "text", ['quo"te', "back\\slash", "new\nline", "\\n", "bracket}{,=", "Ünïcödé ☃", " ", "\x00\x1b[31m"]
)
def test_a_name_is_read_back_as_it_was(text):
    found = samples(table(split(text), name=text, group=text))
    labels = {"source": "run-1", "name": text, "query": "6c1f2a", "group": text, "split": text}
    assert value(found, "split_pending_records", **labels) == 0


def test_half_a_surrogate_pair_does_not_stop_the_scrape():
    assert (
        value(samples(table(split("a\ud800"))), "split_pending_records", **{**SOURCE, "group": "", "split": "a?"}) == 0
    )


def test_no_table_is_no_sample_and_still_readable():
    assert samples() == {}
    text = render_metrics([]).decode()
    assert text.count("# TYPE ") == len(METRICS)


def test_milliseconds_keep_all_their_digits():
    found = samples(table(split("a", watermark=1_760_000_000_123)))
    assert value(found, "split_watermark_timestamp_seconds", **{**SOURCE, "group": ""}, split="a") == 1_760_000_000.123
    assert "NaN" not in render_metrics([table(split("a"))]).decode()


@pytest.mark.parametrize("meaning", METRICS, ids=lambda meaning: meaning.name)
def test_every_metric_is_documented_with_its_meaning(meaning):
    assert f"`{meaning.name}{'_total' if meaning.is_counter else ''}`" in DOCS.read_text(encoding="utf-8")
    assert meaning.help.endswith(".")
