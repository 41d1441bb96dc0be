"""The options of the connector `filesystem`: Flink's, and those of Spark's file sources and sinks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field, PositiveInt, create_model

from datasources.errors import OptionError
from datasources.near_matches import near_matches
from datasources.options import OptionGroup, parse_group, reject_unknown
from datasources.sql.planner.files.file_formats import FILE_FORMATS, FileFormat

_PAGE: Final = "docs/sql.md#files"
_OF_JAVA: Final = "names a class of Java, which nothing calls here"


class FileOptions(OptionGroup):
    """Options with a meaning."""

    path: str = Field(alias="path", min_length=1, description="The directory of the files, or one file to read.")
    format_name: str = Field(alias="format", description=", ".join(f"`{each}`" for each in FILE_FORMATS))
    default_partition: str = Field(
        "__DEFAULT_PARTITION__",
        alias="partition.default-name",
        min_length=1,
        description="The name of the directory for a partition key that is NULL or empty.",
    )
    is_shuffled: bool = Field(
        False,
        alias="sink.shuffle-by-partition.enable",
        description="Whether the rows of a partition are written by one task of a batch.",
    )
    parallelism: PositiveInt | None = Field(
        None, alias="sink.parallelism", description="How many tasks of a batch write."
    )


_IGNORED: Final[Mapping[str, str]] = {
    "source.monitor-interval": "a stream looks for new files in each batch",
    "source.report-statistics": "Spark has its own statistics",
    **dict.fromkeys(
        (
            "sink.rolling-policy.file-size",
            "sink.rolling-policy.rollover-interval",
            "sink.rolling-policy.inactivity-interval",
            "sink.rolling-policy.check-interval",
            "auto-compaction",
            "compaction.file-size",
        ),
        "a batch writes its files and ends them",
    ),
    **dict.fromkeys(
        (
            "sink.partition-commit.trigger",
            "sink.partition-commit.delay",
            "sink.partition-commit.watermark-time-zone",
            "sink.partition-commit.policy.kind",
            "sink.partition-commit.policy.class",
            "sink.partition-commit.policy.class.parameters",
            "sink.partition-commit.success-file.name",
            "partition.time-extractor.kind",
            "partition.time-extractor.class",
            "partition.time-extractor.timestamp-formatter",
            "partition.time-extractor.timestamp-pattern",
        ),
        "files are committed with their batch",
    ),
}
"""Options of Flink's without effect, and what happens instead."""

_REFUSED: Final = {
    "source.path.regex-pattern": "is no option here: Spark's 'pathGlobFilter' = '*.csv' takes a pattern of file names.",
}
_SPARK_READ: Final = (
    "cleanSource",
    "discardCachedInputRatio",
    "fileNameOnly",
    "ignoreCorruptFiles",
    "ignoreMissingFiles",
    "latestFirst",
    "maxBytesPerTrigger",
    "maxCachedFiles",
    "maxFileAge",
    "maxFilesPerTrigger",
    "modifiedAfter",
    "modifiedBefore",
    "pathGlobFilter",
    "recursiveFileLookup",
    "sourceArchiveDir",
)
_SPARK_WRITE: Final = ("compression", "maxRecordsPerFile", "retention")
_STREAM: Final = ("checkpointLocation", "outputMode")


def _texts(name: str, keys: Mapping[str, str]) -> type[OptionGroup]:
    fields: dict[str, Any] = {
        re.sub(r"\W", "_", key): (str | None, Field(None, alias=key, description=text)) for key, text in keys.items()
    }
    return create_model(name, __base__=OptionGroup, __doc__="Options that are texts.", **fields)


_OTHERS: Final = (
    _texts("IgnoredFileOptions", _IGNORED),
    _texts("SparkFileOptions", dict.fromkeys((*_SPARK_READ, *_SPARK_WRITE, *_STREAM), "Spark's.")),
)


def file_options(options: Mapping[str, str]) -> tuple[FileOptions, FileFormat]:
    """Return the connector's options and the format.

    Args:
        options: of the table without `connector`, keys in lower case.

    Raises:
        OptionError: one is missing, unknown or wrong.
    """
    given = parse_group(FileOptions, options)
    found = FILE_FORMATS.get(given.format_name.lower())
    if found is None:
        raise OptionError(
            f"option 'format' = '{given.format_name}': files have one of {', '.join(map(repr, FILE_FORMATS))}."
            f"{near_matches(given.format_name, FILE_FORMATS)}"
        )
    passed_on = (found.passed_on,) if found.passed_on else ()
    groups = (FileOptions, *_OTHERS, found.options)
    reject_unknown(options, groups, prefixes=passed_on, refused=_REFUSED, what="filesystem", page=_PAGE)
    return given, found


def spark_read_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options of Spark's file source."""
    return {key: options[key.lower()] for key in _SPARK_READ if key.lower() in options}


def spark_write_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options of Spark's file sink."""
    return {key: options[key.lower()] for key in _SPARK_WRITE if key.lower() in options}


def ignored_by_sinks(options: Mapping[str, str]) -> list[str]:
    """Return a sentence for each reason why options of a table that is written have no effect."""
    by_reason: dict[str, list[str]] = {}
    for key, reason in _IGNORED.items():
        if key in options and not key.startswith("source."):
            by_reason.setdefault(reason, []).append(f"'{key}'")
    return [
        f"{', '.join(keys)}: without effect, {reason}"
        + (", and no _SUCCESS file is written" if "'sink.partition-commit.policy.kind'" in keys else "")
        for reason, keys in by_reason.items()
    ]


def require_known_policy(options: Mapping[str, str]) -> None:
    """Refuse what has to happen when a partition is complete, and would not.

    Raises:
        OptionError: a policy of the user's own, or of Hive.
    """
    kinds = {each.strip() for each in options.get("sink.partition-commit.policy.kind", "").split(",")}
    if "custom" in kinds or "sink.partition-commit.policy.class" in options:
        raise OptionError(f"option 'sink.partition-commit.policy.class' {_OF_JAVA}: use foreachBatch() in Python.")
    if "metastore" in kinds:
        raise OptionError(
            "option 'sink.partition-commit.policy.kind' = 'metastore': only tables of Hive are in a metastore."
        )
