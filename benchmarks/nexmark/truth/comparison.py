"""A side's result beside the expected one, as multisets of rows with the expected types.

A result is a table `found` of the DuckDB with the columns of the query and `n`: 1 for a row that was added, -1 for one
that was removed. `found_*` make it from what sides write.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from benchmarks.nexmark.query_list import NexmarkQuery
from benchmarks.nexmark.truth.expected import CANDIDATES, EXPECTED, ExpectedResults

__all__ = ["differences", "found_in_csv", "found_in_debezium", "found_in_parquet"]

_SHOWN: Final = 3
_OWN: Final = ("row_kind", "_batch")
_REMOVED: Final = "('-U', '-D')"


def found_in_parquet(results: ExpectedResults, query: NexmarkQuery, directory: Path, keys: Sequence[str]) -> None:
    """Read rows of Parquet files, in batches.

    Args:
        results: with the expected rows.
        query: whose.
        directory: of the files, whose columns have the result's order; `row_kind` and `_batch` come besides.
        keys: of rows of an earlier batch that are replaced by those of a later one; none = rows are added, or
            removed, by `row_kind` where it is there.
    """
    source = f"read_parquet('{directory}/**/*.parquet', hive_partitioning = false)"
    if not any(directory.rglob("*.parquet")):
        source = f"(SELECT *, 0 AS _batch FROM {EXPECTED} LIMIT 0)"
    names = [name for name, *_ in results.rows(f"DESCRIBE FROM {source}")]
    columns = [name for name in names if name not in _OWN]
    weight = f"CASE WHEN row_kind IN {_REMOVED} THEN -1 ELSE 1 END" if "row_kind" in names else "1"
    newest = f" QUALIFY _batch = max(_batch) OVER (PARTITION BY {_listed(keys)})" if keys else ""
    _fill(results, query, _listed(columns), weight, f"{source}{newest}")


def found_in_debezium(results: ExpectedResults, query: NexmarkQuery, file: Path) -> None:
    """Read the events of a file, as Flink's `debezium-json` writes them, one a line."""
    types = {name: kind for name, kind, *_ in results.rows(f"DESCRIBE FROM {EXPECTED}")}
    row = ", ".join(f'"{name}" {types.get(name, "VARCHAR")}' for name in query.columns())
    columns = f"{{before: 'STRUCT({row})', after: 'STRUCT({row})', op: 'VARCHAR'}}"
    source = f"read_json('{file}', format = 'newline_delimited', columns = {columns})"
    fields = ", ".join(f'coalesce("after", "before")."{name}"' for name in query.columns())
    _fill(results, query, fields, "CASE op WHEN 'd' THEN -1 ELSE 1 END", source)


def found_in_csv(results: ExpectedResults, query: NexmarkQuery, directory: Path) -> None:
    """Read files without a header, in directories `dt=.../hm=...` whose names are the last columns."""
    *inner, last, hour = query.columns()
    types = {name: kind for name, kind, *_ in results.rows(f"DESCRIBE FROM {EXPECTED}")}
    columns = ", ".join(f"'{name}': '{types[name]}'" for name in inner)
    source = f"read_csv('{directory}/**/part-*', columns = {{{columns}}}, header = false, filename = true)"
    of_path = [f"url_decode(regexp_extract(filename, '{name}=([^/]*)', 1))" for name in (last, hour)]
    _fill(results, query, f"{_listed(inner)}, {', '.join(of_path)}", "1", source)


def _fill(results: ExpectedResults, query: NexmarkQuery, columns: str, weight: str, source: str) -> None:
    """Make the table `found`, with the expected types where the expected result has the column."""
    names = query.columns()
    types = {name: kind for name, kind, *_ in results.rows(f"DESCRIBE FROM {EXPECTED}")}
    cast = ", ".join(f'CAST("{name}" AS {types[name]}) AS "{name}"' if name in types else f'"{name}"' for name in names)
    inner = f"SELECT {columns}, {weight} FROM {source}"
    results.database.execute(
        f"CREATE OR REPLACE TABLE found AS SELECT {cast}, n FROM ({inner}) AS t({_listed([*names, 'n'])})"
    )


def differences(results: ExpectedResults, query: NexmarkQuery) -> list[str]:
    """Return how the table `found` differs from the expected result, a few rows of each kind; none = they are equal."""
    if query.is_bounded:
        return _beyond_bounds(results, query)
    fixed = [name for name in query.columns() if name not in query.free]
    missing, surplus = _counted(EXPECTED, fixed, "1"), _counted("found", fixed, "n")
    found = [
        *_shown(results, f"{missing} EXCEPT {surplus}", "missing"),
        *_shown(results, f"{surplus} EXCEPT {missing}", "surplus"),
    ]
    if query.free and not found:
        found = _impossible(results, query)
    return found


def _impossible(results: ExpectedResults, query: NexmarkQuery) -> list[str]:
    """Return rows that are not among the tied ones."""
    columns = [name for name in query.columns() if name != query.rank]
    found, known = _counted("found", columns, "n"), _counted(CANDIDATES, columns, "1")
    same = " AND ".join(f'f."{name}" IS NOT DISTINCT FROM k."{name}"' for name in columns)
    return _shown(
        results,
        f"SELECT f.* FROM ({found}) AS f LEFT JOIN ({known}) AS k ON {same} WHERE f.n > coalesce(k.n, 0)",
        "not tied",
    )


def _beyond_bounds(results: ExpectedResults, query: NexmarkQuery) -> list[str]:
    """Return keys whose counts add up to more than is expected; the first two columns are the key and the count."""
    key, count, *_ = query.columns()
    statement = f"""
        SELECT f.k, f.n, e."{count}" FROM (SELECT "{key}" AS k, sum(n * "{count}") AS n FROM found GROUP BY ALL) AS f
        LEFT JOIN {EXPECTED} AS e ON f.k = e."{key}" WHERE f.n > coalesce(e."{count}", 0)
    """
    return _shown(results, statement, "more than there are")


def _counted(table: str, columns: Iterable[str], weight: str) -> str:
    listed = _listed(columns)
    return f"SELECT {listed}, sum({weight}) AS n FROM {table} GROUP BY {listed} HAVING sum({weight}) <> 0"


def _shown(results: ExpectedResults, statement: str, title: str) -> list[str]:
    rows = results.rows(f"SELECT count(*) OVER (), * FROM ({statement}) LIMIT {_SHOWN}")
    return [f"{title}, {total:,} in all: {row}" for total, *row in rows]


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)
