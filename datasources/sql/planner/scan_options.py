"""A scan node as connector options: the only input of Spark's DataSource API."""

from __future__ import annotations

from collections.abc import Mapping

from datasources.grammar.literals import quoted
from datasources.options import lower_keys, parse_group
from datasources.spark.options.watermark_options import GLOBAL_OPTIONS, WatermarkOptions
from datasources.sql.definitions.option_secrets import expand
from datasources.sql.planner.files.file_layout import FileColumn
from datasources.sql.planner.files.file_table import FileTable, file_table
from datasources.sql.planner.tree import Attribute, TableScan

READER_OPTIONS = ("scan.watermark.", "watermark.", "scan.load-completed.timestamp-millis")
"""Beginnings of options that only a reader that makes watermarks obeys."""


def scan_options(scan: TableScan) -> dict[str, str]:
    """Return the options for a connector of ours. Keys in lower case; secrets are those of `scan.options`."""
    given = {key: value for key, value in lower_keys(scan.options).items() if key not in scan.connector.sink_options}
    options = {**scan.connector.options, **given}
    if scan.columns:
        options["schema"] = _ddl(scan)
    if scan.primary_key and "scan.upsert" in options:
        options["primary-key"] = ";".join(scan.primary_key)
    if scan.metadata:
        options["scan.metadata"] = ", ".join(f"{quoted(m.name)} FROM {quoted(m.key)}" for m in scan.metadata)
    if scan.delivered is not None:
        options["scan.columns"] = ", ".join(quoted(name) for name in scan.delivered)
    if scan.filter is not None:
        options["scan.filter"] = scan.filter
    for number, attribute in enumerate(scan.attributes):
        options |= _watermark(attribute, "watermark." if number == 0 else f"watermark.{number}.")
    if scan.attributes:
        return options
    return {key: value for key, value in options.items() if key not in GLOBAL_OPTIONS}


def read_options(scan: TableScan) -> dict[str, str]:
    """Return the options for reading the scan: a batch ignores watermark options."""
    return scan_options(scan) if scan.is_streaming else without_reader_options(scan_options(scan))


def spark_options(scan: TableScan) -> dict[str, str]:
    """Return the options for a format of Spark's: the user's, and none of ours."""
    return {key: value for key, value in scan.options.items() if key.lower() not in GLOBAL_OPTIONS}


def files_of(scan: TableScan) -> FileTable:
    """Return the files of a scan of the connector `filesystem`.

    Raises:
        OptionError: an option is missing, unknown or wrong.
        SchemaError: files of the format cannot have a column.
    """
    options = expand(spark_options(scan))
    scan.connector.require_path(scan.table, options)
    columns = tuple(FileColumn(name=each.name, spark_type=each.spark_type) for each in scan.columns)
    return file_table(scan.table, options, columns, scan.partition_keys)


def watermark_options(scan: TableScan) -> WatermarkOptions:
    """Return the watermark options of a scan, parsed as a connector of ours does."""
    return parse_group(WatermarkOptions, scan_options(scan))


def without_reader_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options (lower-case keys) that a scan without a watermark obeys."""
    return {key: value for key, value in options.items() if not key.startswith(READER_OPTIONS)}


def _ddl(scan: TableScan) -> str:
    return ", ".join(f"{quoted(c.name)} {c.spark_type}" + ("" if c.is_nullable else " NOT NULL") for c in scan.columns)


def _watermark(attribute: Attribute, prefix: str) -> dict[str, str]:
    if attribute.proctime:
        return {f"{prefix}for": attribute.column, "watermark.processing-time": "always"}
    path = ".".join(quoted(name) for name in attribute.path)
    options = {f"{prefix}for": path, f"{prefix}as": attribute.expression}
    if attribute.rowtime != path:
        options[f"{prefix}rowtime"] = attribute.rowtime
    return options
