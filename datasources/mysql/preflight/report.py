"""The preflight's findings as text and as JSON."""

from __future__ import annotations

import json
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from datasources.mysql.preflight.check import Preflight
from datasources.mysql.preflight.finding import Finding, Severity
from datasources.mysql.preflight.tables import CheckedTable

__all__ = ["render", "to_json"]

_STYLES: Final = {Severity.OK: "green", Severity.WARNING: "yellow", Severity.PROBLEM: "bold red"}
_UNITS: Final = ("bytes", "KB", "MB", "GB", "TB")
_STEP: Final = 1024


def to_json(preflight: Preflight) -> str:
    """Return the preflight as one JSON object."""
    return json.dumps(
        {
            "server": preflight.server,
            "version": str(preflight.version),
            "ok": not preflight.has_problem,
            "findings": [finding.to_json() for finding in preflight.findings],
            "tables": [_table_json(table, preflight.chunk_size) for table in preflight.tables],
        },
        indent=1,
        ensure_ascii=False,
    )


def render(preflight: Preflight) -> Group:
    """Return tables of the findings, followed by the fixes, in lines that can be copied."""
    parts: list[RenderableType] = [Text(f"{preflight.server}: {preflight.version}"), _findings(preflight)]
    if preflight.tables:
        parts.append(_tables(preflight))
    not_ok = [finding for finding in preflight.findings if finding.severity is not Severity.OK]
    parts += [_details(finding) for finding in not_ok]
    return Group(*parts, *(() if not_ok else (Text("Nothing is missing.", style="green"),)))


def chunks(table: CheckedTable, chunk_size: int) -> int:
    """Return about how many chunks a table is read in."""
    return max(1, -(-table.rows // chunk_size))


def _findings(preflight: Preflight) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("", "check", "of", "found"):
        table.add_column(heading, overflow="fold")
    for each in preflight.findings:
        status = Text(each.severity.value, style=_STYLES[each.severity])
        table.add_row(status, Text(each.check), Text(each.subject), Text(each.found))
    return table


def _tables(preflight: Preflight) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("table", "key", "rows (about)", "size (about)", "chunks"):
        table.add_column(heading, overflow="fold")
    for each in preflight.tables:
        count = str(chunks(each, preflight.chunk_size))
        table.add_row(Text(each.name), Text(str(each.key)), f"{each.rows:,}", _size(each.size_bytes), count)
    return table


def _details(finding: Finding) -> Text:
    about = f"{finding.check} of {finding.subject}" if finding.subject else finding.check
    what = (f"{about}: ", _STYLES[finding.severity])
    return Text.assemble(what, f"{finding.found}: {finding.why}", *(f"\n    {fix}" for fix in finding.fix))


def _table_json(table: CheckedTable, chunk_size: int) -> dict[str, object]:
    return {
        "database": table.database,
        "table": table.table,
        "engine": table.engine,
        "rows": table.rows,
        "bytes": table.size_bytes,
        "chunks": chunks(table, chunk_size),
        "key": {
            "kind": table.key.kind.value,
            "columns": [
                {"name": column.name, "type": column.column_type, "collation": column.collation}
                for column in table.key.columns
            ],
        },
        "cascades": [f"{cascade.name} {cascade.actions}" for cascade in table.cascades],
    }


def _size(size_bytes: int) -> str:
    value, unit = float(size_bytes), 0
    while value >= _STEP and unit < len(_UNITS) - 1:
        value, unit = value / _STEP, unit + 1
    return f"{value:.0f} {_UNITS[unit]}"
