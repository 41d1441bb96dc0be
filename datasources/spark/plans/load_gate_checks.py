"""Whether the sources of a query that wait for each other fit: before it runs, from the options in its plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from datasources.errors import QueryError
from datasources.options import parse_group
from datasources.spark.boundary.connect import is_connect
from datasources.spark.options.load_gate_options import LoadGateOptions
from datasources.spark.plans.connect_plan import streaming_source_options
from datasources.spark.plans.plan_walk import source_options
from datasources.spark.plans.session_checks import registered_formats

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_KEYS = tuple(str(field.alias) for field in LoadGateOptions.model_fields.values())


def gate_options_of(plan: Any, formats: frozenset[str] | None = None) -> list[LoadGateOptions]:
    """Return what each streaming source in an analysed plan is set to; one that has none of the options too.

    ``formats`` are lower-case names; None = all.
    """
    return _parsed(source_options(plan, _KEYS, formats=formats))


def builds_by_name(sources: Iterable[LoadGateOptions]) -> Mapping[str, int]:
    """Return how many sources of a query have each name.

    Raises:
        QueryError: one waits for a name that none has.
    """
    sources = list(sources)
    builds = Counter(each.name for each in sources if each.name is not None)
    for name in (name for each in sources for name in each.names):
        if name not in builds:
            known = f" Its sources have the names {', '.join(sorted(builds))}." if builds else ""
            raise QueryError(
                f"a source of the query waits for '{name}' (scan.hold.until), which is the scan.hold.name of none of "
                f"its sources.{known} Set the option on the source that it has to wait for; sources of another query "
                f"cannot be waited for."
            )
    return builds


def require_load_gate(probe: DataFrame, build: DataFrame) -> None:
    """Raise unless every source of `probe` waits for every source of `build`, as a join by processing time needs it.

    Sources that are not Tidemark's can neither wait nor be waited for; they are passed over. So are sources of the
    probe that others in it wait for: they are tables that it has been joined with before.

    Raises:
        QueryError: naming the options to set, or that a client does not see a source.
    """
    _require(_gates(probe), _gates(build))


def _require(probes: Sequence[LoadGateOptions], builds: Sequence[LoadGateOptions]) -> None:
    if probes and any(each.name is None for each in builds):
        raise QueryError(
            "the table's side of the join has a source without a name, so no source can wait until it is loaded: read "
            "it with the option scan.hold.name, for example read_stream(..., **{'scan.hold.name': 'rates'})."
        )
    names = list(dict.fromkeys(str(each.name) for each in builds))
    awaited = {name for each in probes for name in each.names}
    for each in probes:
        if each.name in awaited:
            continue
        missing = [name for name in names if name not in each.names]
        if missing:
            until = ",".join(dict.fromkeys((*each.names, *names)))
            raise QueryError(
                f"rows would be joined before the table is loaded: read the other side with the option "
                f"scan.hold.until = '{until}', for example read_stream(..., **{{'scan.hold.until': '{until}'}})."
            )


def _gates(df: DataFrame) -> list[LoadGateOptions]:
    formats = registered_formats(df.sparkSession)
    if is_connect(df.sparkSession):
        return _parsed(streaming_source_options(df, _KEYS, formats))
    plan = df._jdf.queryExecution().analyzed()  # noqa: SLF001 - PySpark hides the plan
    return gate_options_of(plan, formats)


def _parsed(sources: Iterable[Mapping[str, str | None]]) -> list[LoadGateOptions]:
    return [
        parse_group(LoadGateOptions, {key: value for key, value in given.items() if value is not None})
        for given in sources
    ]
