"""register(spark): the application's coordinator, the formats, the listener."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from datasources.errors import OptionError
from datasources.source.coordination.server import Coordinator
from datasources.spark.adapter.binding import Binding
from datasources.spark.adapter.data_source import TidemarkDataSource
from datasources.spark.attach.listener import QueryListener
from datasources.spark.boundary.redaction import redact_options
from datasources.spark.options.code_options import allows_code_options
from datasources.spark.options.watermark_options import GLOBAL_OPTIONS
from datasources.spark.plans.session_checks import require_classic

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from datasources.expressions.evaluation.function_call import ReaderFunction
    from datasources.observe.server import Observer

_logger = logging.getLogger(__name__)

GLOBAL_PREFIX = "spark.tidemark."
_TASKS_PER_SLOT = 2  # splits differ in size: two waves even that out
_COORDINATOR_HOST = f"{GLOBAL_PREFIX}coordinator.host"
_COORDINATOR_BIND = f"{GLOBAL_PREFIX}coordinator.bind"
_COORDINATOR_PORT = f"{GLOBAL_PREFIX}coordinator.port"
_UI_HOST = f"{GLOBAL_PREFIX}ui.host"
_UI_NAMES = "spark.tidemark.ui.names"
_UI_TOKEN = "spark.tidemark.ui.token"  # noqa: S105 - the name of a setting
_UI_PORT = f"{GLOBAL_PREFIX}ui.port"
_once = threading.Lock()


def register_formats(
    spark: SparkSession,
    formats: Sequence[type[TidemarkDataSource]],
    *,
    again: bool = True,
    functions: Mapping[str, ReaderFunction] | None = None,
) -> Coordinator:
    """Make the formats known to a session, start the application's coordinator once, listen to the session's queries.

    Calling it again is harmless. Session time zone, ANSI flag and `spark.tidemark.*` are bound as defaults at the
    time of the call. From then on Spark redacts our secret options in the session's plans.

    Args:
        spark: the session.
        formats: the classes; each is bound to the application's coordinator and the session's settings.
        again: also bind formats that are bound to the same already. Spark logs a warning for each replacement.
        functions: the user's own functions that expressions may call, by name; they travel to executors with the
            class. None = those of the last call.

    Raises:
        QueryError: the session is a Spark Connect client.
        CoordinatorError: the configured port cannot be bound.
    """
    require_classic(spark)
    redact_options(spark)
    coordinator = _application_coordinator(spark)
    observer = _application_observer(spark, coordinator)
    if functions is not None:
        spark._tidemark_functions = dict(functions)  # noqa: SLF001 - lives as long as the session
    binding = Binding(
        endpoint=coordinator.endpoint,
        defaults=session_defaults(spark),
        functions=session_functions(spark),
        is_watched=observer is not None,
        allows_code=allows_code_options(spark),
        max_tasks=_TASKS_PER_SLOT * spark.sparkContext.defaultParallelism,
    )
    known: dict[str, tuple[type[TidemarkDataSource], Binding]] = getattr(spark, "_tidemark_formats", {})
    for source in formats:
        if again or known.get(source.name()) != (source, binding):
            bound = type(source.__name__, (source,), {"binding": binding, "__module__": "__main__"})
            spark.dataSource.register(bound)
            known[source.name()] = (source, binding)
    spark._tidemark_formats = known  # noqa: SLF001 - lives as long as the session
    if getattr(spark, "_tidemark_listener", None) is None:
        listener = QueryListener(spark, coordinator)
        spark.streams.addListener(listener)
        spark._tidemark_listener = listener  # noqa: SLF001 - lives as long as the session
    return coordinator


def session_defaults(spark: SparkSession) -> dict[str, str]:
    """Return the options that the session fixes for all sources: zone, ANSI flag, `spark.tidemark.*`."""
    defaults = {
        "scan.session.time-zone": str(spark.conf.get("spark.sql.session.timeZone")),
        "scan.session.ansi": str(spark.conf.get("spark.sql.ansi.enabled")).lower(),
    }
    for key in GLOBAL_OPTIONS:
        value = spark.conf.get(GLOBAL_PREFIX + key, None)
        if value is not None:
            defaults[key] = value
    return defaults


def session_functions(spark: SparkSession) -> dict[str, ReaderFunction]:
    """Return the user's own functions that are bound to the session's formats, by name."""
    functions: dict[str, ReaderFunction] = getattr(spark, "_tidemark_functions", {})
    return functions


def _application_coordinator(spark: SparkSession) -> Coordinator:
    """Return the coordinator of the application, which sessions of several threads may ask for at once."""
    context = spark.sparkContext
    with _once:
        coordinator: Coordinator | None = getattr(context, "_tidemark_coordinator", None)
        if coordinator is None:
            conf = context.getConf()
            host = str(conf.get(_COORDINATOR_HOST, conf.get("spark.driver.host", "127.0.0.1")))
            bind = str(conf.get(_COORDINATOR_BIND, conf.get("spark.driver.bindAddress", host)))
            coordinator = Coordinator(host=host, bind=bind, port=int(conf.get(_COORDINATOR_PORT, "0") or 0))
            context._tidemark_coordinator = coordinator  # noqa: SLF001 - lives as long as it
            _close_with(context, coordinator.close)
        return coordinator


def _close_with(context: SparkContext, close: Callable[[], None]) -> None:
    """Close something when the context stops; Spark has no event for that which Python hears."""
    stop = context.stop

    def stop_and_close() -> None:
        try:
            stop()
        finally:
            close()

    context.stop = stop_and_close


def _application_observer(spark: SparkSession, coordinator: Coordinator) -> Observer | None:
    """Start the page of the application's sources once, if `spark.tidemark.ui.port` asks for it."""
    context = spark.sparkContext
    observer: Observer | None = getattr(context, "_tidemark_observer", None)
    port = context.getConf().get(_UI_PORT, None)
    if observer is None and port is not None:
        from datasources.observe.access import RemoteAccess
        from datasources.observe.server import start_observer  # not needed without an observer

        conf = context.getConf()
        token = conf.get(_UI_TOKEN, None) or None
        observer = start_observer(
            coordinator.registry.tables,
            host=str(conf.get(_UI_HOST, "127.0.0.1")),
            port=_port_of(port),
            remote=RemoteAccess(token=token, names=tuple(str(conf.get(_UI_NAMES, "")).split(","))),
        )
        context._tidemark_observer = observer  # noqa: SLF001 - lives as long as it
        shown = observer.url if token is None else observer.url.partition("?")[0]  # one that was set is known
        _logger.warning("watch the sources of this application at %s", shown)
    return observer


def _port_of(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise OptionError(f"{_UI_PORT} = '{text}' is no port: use a number, 0 for any free one.") from None
