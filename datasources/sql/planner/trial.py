"""Checks whether a connector supports a scan node, before anything is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from datasources.expressions.arrow_function import ArrowFunction
from datasources.source.api.connector import SessionInfo
from datasources.spark.scan.scan import build_scan
from datasources.sql.definitions.option_secrets import expand
from datasources.sql.planner.scan_options import read_options
from datasources.sql.planner.tree import TableScan


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanTrial:
    """Builds scans of our connectors (`TrialScan`). Formats of Spark's are not asked."""

    session: SessionInfo
    functions: Mapping[str, ArrowFunction]
    allows_code: bool = False

    def __call__(self, scan: TableScan) -> None:
        """Build the scan that a node describes; needs no server.

        Raises:
            ExpressionError: an expression cannot be evaluated in the reader with Spark's own result.
            OptionError, SchemaError: an option is wrong.
        """
        source = scan.connector.source
        if source is None:
            return
        defaults = {
            key: value
            for key, value in (
                ("scan.session.time-zone", self.session.time_zone),
                ("scan.session.ansi", None if self.session.ansi is None else str(self.session.ansi).lower()),
            )
            if value is not None
        }
        options = expand(read_options(scan))
        build_scan(source, options, defaults, functions=self.functions, allows_code=self.allows_code)
