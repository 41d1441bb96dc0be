"""The options of `filesystem`: Flink's with a meaning, without effect, refused; Spark's; and no others."""

from __future__ import annotations

import pytest

from datasources.errors import OptionError
from datasources.sql.planner.files.file_options import (
    file_options,
    ignored_by_sinks,
    require_known_policy,
    spark_read_options,
    spark_write_options,
)

BASE = {"path": "/data", "format": "csv"}
Q10 = {
    "sink.partition-commit.trigger": "partition-time",
    "sink.partition-commit.delay": "1 min",
    "sink.partition-commit.policy.kind": "success-file",
    "partition.time-extractor.timestamp-pattern": "$dt $hm:00",
    "sink.rolling-policy.rollover-interval": "1min",
    "sink.rolling-policy.check-interval": "1min",
}


def test_options_have_flinks_defaults():
    given, found = file_options(BASE)
    assert (given.path, given.format_name, given.default_partition) == ("/data", "csv", "__DEFAULT_PARTITION__")
    assert (given.is_shuffled, given.parallelism) == (False, None)
    assert found.passed_on == ""


@pytest.mark.parametrize(
    "additional",
    [
        Q10,
        {"auto-compaction": "true", "compaction.file-size": "1MB"},
        {"source.monitor-interval": "1 s", "source.report-statistics": "NONE"},
        {"sink.parallelism": "2", "sink.shuffle-by-partition.enable": "true"},
        {"maxfilespertrigger": "1", "pathglobfilter": "*.csv", "checkpointlocation": "/c"},
        {"csv.null-literal": "", "multiline": "false"},
    ],
)
def test_known_options_are_taken(additional):
    file_options(BASE | additional)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "csv"}, "option 'path' is required"),
        ({"path": "/data"}, "option 'format' is required"),
        (BASE | {"format": "cvs"}, "files have one of 'csv', 'json', 'parquet', 'orc', 'avro', 'raw'. Did you mean 'csv'?"),
        (BASE | {"sink.parallelism": "0"}, "option 'sink.parallelism' = '0'"),
        (BASE | {"csv.nul-literal": "x"}, "unknown option 'csv.nul-literal' for filesystem. Did you mean 'csv.null-literal'"),
        (BASE | {"json.ignore-parse-errors": "true"}, "unknown option 'json.ignore-parse-errors'"),
        (BASE | {"parquet.compression": "gzip"}, "unknown option 'parquet.compression'"),
        (BASE | {"header": "true"}, "unknown option 'header'"),
        (BASE | {"source.path.regex-pattern": "a.*"}, "Spark's 'pathGlobFilter'"),
        (BASE | {"partiton.default-name": "x"}, "Did you mean 'partition.default-name'"),
    ],
)  # fmt: skip
def test_other_options_are_refused(options, message):
    with pytest.raises(OptionError) as error:
        file_options(options)
    assert message in error.value.message


def test_a_library_takes_its_own_options_as_they_are():
    file_options({"path": "/data", "format": "parquet", "parquet.compression": "gzip", "parquet.page.size": "1"})
    file_options({"path": "/data", "format": "orc", "orc.compress": "ZSTD"})


def test_sparks_options_go_to_the_side_that_has_them():
    options = BASE | {"maxfilespertrigger": "1", "maxrecordsperfile": "2"}
    assert spark_read_options(options) == {"maxFilesPerTrigger": "1"}
    assert spark_write_options(options) == {"maxRecordsPerFile": "2"}


def test_a_sink_reports_what_has_no_effect_with_the_reason():
    found = ignored_by_sinks(BASE | Q10 | {"source.monitor-interval": "1 s"})
    assert found == [
        (
            "'sink.rolling-policy.rollover-interval', 'sink.rolling-policy.check-interval': without effect, a batch writes "
            "its files and ends them"
        ),
        (
            "'sink.partition-commit.trigger', 'sink.partition-commit.delay', 'sink.partition-commit.policy.kind', "
            "'partition.time-extractor.timestamp-pattern': without effect, files are committed with their batch, and no "
            "_SUCCESS file is written"
        ),
    ]
    assert ignored_by_sinks(BASE) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sink.partition-commit.policy.kind": "success-file,custom"}, "names a class of Java"),
        ({"sink.partition-commit.policy.class": "com.example.Policy"}, "names a class of Java"),
        ({"sink.partition-commit.policy.kind": "metastore"}, "only tables of Hive are in a metastore"),
    ],
)
def test_a_policy_that_something_else_waits_for_is_refused(options, message):
    require_known_policy(Q10)
    with pytest.raises(OptionError, match=message):
        require_known_policy(options)
