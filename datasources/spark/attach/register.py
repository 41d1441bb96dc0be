"""register(spark): the application's coordinator, the formats, the listener."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from datasources.errors import OptionError
from datasources.source.api.connector import SessionInfo
from datasources.source.coordination.server import Coordinator
from datasources.spark.adapter.application_coordinator import CoordinatorSettings, PageSettings
from datasources.spark.adapter.binding import Binding
from datasources.spark.adapter.data_source import TidemarkDataSource
from datasources.spark.boundary.connect import application_setting, is_connect
from datasources.spark.boundary.redaction import redact_options
from datasources.spark.options.code_options import allows_code_options
from datasources.spark.options.watermark_options import GLOBAL_OPTIONS
from datasources.spark.plans.session_checks import require_session

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
_UI_FRAMES = "spark.tidemark.ui.frames"
_UI_TOKEN = "spark.tidemark.ui.token"  # noqa: S105 - the name of a setting
_UI_PORT = f"{GLOBAL_PREFIX}ui.port"
_TIME_ZONE = "scan.session.time-zone"
_ANSI = "scan.session.ansi"
_once = threading.Lock()


def register_formats(
    spark: SparkSession,
    formats: Sequence[type[TidemarkDataSource]],
    *,
    again: bool = True,
    functions: Mapping[str, ReaderFunction] | None = None,
) -> None:
    """Make the formats known to a session, start the application's coordinator once, listen to the session's queries.

    Calling it again is harmless. Session time zone, ANSI flag and `spark.tidemark.*` are bound as defaults at the
    time of the call. From then on Spark redacts our secret options in the session's plans. On Spark Connect there is
    no listener, and planners start the coordinator.

    Args:
        spark: the session.
        formats: the classes; each is bound to the application's coordinator and the session's settings.
        again: also bind formats that are bound to the same already. Spark logs a warning for each replacement.
        functions: the user's own functions that expressions may call, by name; they travel to executors with the
            class. None = those of the last call.

    Raises:
        QueryError: there is no session.
        CoordinatorError: the configured port cannot be bound. On Spark Connect the first query finds that out.
    """
    require_session(spark)
    hides_secrets = redact_options(spark)
    if functions is not None:
        spark._tidemark_functions = dict(functions)  # noqa: SLF001 - lives as long as the session
    binding = _binding_on_connect(spark) if is_connect(spark) else _binding_here(spark)
    binding = replace(binding, hides_secrets=hides_secrets)
    known: dict[str, tuple[type[TidemarkDataSource], Binding]] = getattr(spark, "_tidemark_formats", {})
    for source in formats:
        if again or known.get(source.name()) != (source, binding):
            bound = type(source.__name__, (source,), {"binding": binding, "__module__": "__main__"})
            spark.dataSource.register(bound)
            known[source.name()] = (source, binding)
    spark._tidemark_formats = known  # noqa: SLF001 - lives as long as the session


def _binding_here(spark: SparkSession) -> Binding:
    """Return the binding of a session in the driver's process, whose coordinator and listener are here."""
    coordinator = _application_coordinator(spark)
    observer = _application_observer(spark, coordinator)
    if getattr(spark, "_tidemark_listener", None) is None:
        from datasources.spark.attach.listener import QueryListener  # needs py4j, which clients of Connect have not

        listener = QueryListener(spark, coordinator)
        spark.streams.addListener(listener)
        spark._tidemark_listener = listener  # noqa: SLF001 - lives as long as the session
    return Binding(
        endpoint=coordinator.endpoint,
        defaults=session_defaults(spark),
        functions=session_functions(spark),
        is_watched=observer is not None,
        allows_code=allows_code_options(spark),
        max_tasks=_TASKS_PER_SLOT * spark.sparkContext.defaultParallelism,
    )


def _binding_on_connect(spark: SparkSession) -> Binding:
    """Return the binding of a client's session: planners on the driver find the coordinator, or start it."""
    settings = coordinator_settings(spark)
    slots = _slots_on_connect(spark)
    return Binding(
        coordinator=settings,
        defaults=session_defaults(spark),
        functions=session_functions(spark),
        is_watched=settings.page is not None,
        max_tasks=None if slots is None else _TASKS_PER_SLOT * slots,
    )


def _slots_on_connect(spark: SparkSession) -> int | None:
    """Return how many tasks run at once, as far as the settings tell it; None = not known."""
    master = application_setting(spark, "spark.master") or ""
    local = re.fullmatch(r"local\[(\d+)(?:,\d+)?\]", master)
    executors = application_setting(spark, "spark.executor.instances")
    found = (
        application_setting(spark, "spark.default.parallelism"),
        None if local is None else local[1],
        None if executors is None else int(executors) * int(application_setting(spark, "spark.executor.cores") or 1),
    )
    return next((int(each) for each in found if each is not None), None)


def session_defaults(spark: SparkSession) -> dict[str, str]:
    """Return the options that the session fixes for all sources: zone, ANSI flag, `spark.tidemark.*`."""
    defaults = {
        _TIME_ZONE: str(spark.conf.get("spark.sql.session.timeZone")),
        _ANSI: str(spark.conf.get("spark.sql.ansi.enabled")).lower(),
    }
    for key in GLOBAL_OPTIONS:
        value = spark.conf.get(GLOBAL_PREFIX + key, None)
        if value is not None:
            defaults[key] = value
    return defaults


def session_info(spark: SparkSession) -> SessionInfo:
    """Return what expressions must know of the session as it is now."""
    now = session_defaults(spark)
    return SessionInfo(time_zone=now[_TIME_ZONE], ansi=now[_ANSI] == "true")


def session_functions(spark: SparkSession) -> dict[str, ReaderFunction]:
    """Return the user's own functions that are bound to the session's formats, by name."""
    functions: dict[str, ReaderFunction] = getattr(spark, "_tidemark_functions", {})
    return functions


def coordinator_settings(spark: SparkSession) -> CoordinatorSettings:
    """Return where the application's settings have its coordinator, and its page.

    Raises:
        OptionError: a port is no number.
    """
    host = application_setting(spark, _COORDINATOR_HOST) or application_setting(spark, "spark.driver.host")
    bind = application_setting(spark, _COORDINATOR_BIND) or application_setting(spark, "spark.driver.bindAddress")
    return CoordinatorSettings(
        host=host or "127.0.0.1", bind=bind, port=_port(spark, _COORDINATOR_PORT) or 0, page=_page_settings(spark)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationPage:
    """The page of an application's sources.

    Attributes:
        url: without a token.
        is_framed: whether pages of other origins may show it in a frame, and no token is needed.
    """

    url: str
    is_framed: bool


def application_page(spark: SparkSession) -> ApplicationPage | None:
    """Return the page of a session's application; None = none is served, or a server chose its port."""
    settings = coordinator_settings(spark).page
    if settings is None:
        return None
    if is_connect(spark):
        url, needs_token = f"http://{settings.host}:{settings.port}/", settings.token is not None
        if not settings.port:
            return None
    else:
        observer: Observer | None = getattr(spark.sparkContext, "_tidemark_observer", None)
        if observer is None:
            return None
        url, token, _ = observer.url.partition("?")
        needs_token = bool(token)
    return ApplicationPage(url=url, is_framed=bool(settings.frames) and not needs_token)


def _page_settings(spark: SparkSession) -> PageSettings | None:
    port = _port(spark, _UI_PORT)
    if port is None:
        return None
    return PageSettings(
        host=application_setting(spark, _UI_HOST) or "127.0.0.1",
        port=port,
        token=application_setting(spark, _UI_TOKEN),
        names=tuple((application_setting(spark, _UI_NAMES) or "").split(",")),
        frames=tuple((application_setting(spark, _UI_FRAMES) or "").replace(",", " ").split()),
    )


def _port(spark: SparkSession, key: str) -> int | None:
    text = application_setting(spark, key)
    try:
        return None if text is None else int(text)
    except ValueError:
        raise OptionError(f"{key} = '{text}' is no port: use a number, 0 for any free one.") from None


def _application_coordinator(spark: SparkSession) -> Coordinator:
    """Return the coordinator of the application, which sessions of several threads may ask for at once."""
    context = spark.sparkContext
    with _once:
        coordinator: Coordinator | None = getattr(context, "_tidemark_coordinator", None)
        if coordinator is None:
            settings = coordinator_settings(spark)
            coordinator = Coordinator(host=settings.host, bind=settings.bind, port=settings.port)
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
    page = coordinator_settings(spark).page
    if observer is None and page is not None:
        from datasources.observe.access import RemoteAccess
        from datasources.observe.server import start_observer  # not needed without an observer

        observer = start_observer(
            coordinator.registry.tables,
            host=page.host,
            port=page.port,
            remote=RemoteAccess(token=page.token, names=page.names, frames=page.frames),
        )
        context._tidemark_observer = observer  # noqa: SLF001 - lives as long as it
        shown = observer.url if page.token is None else observer.url.partition("?")[0]  # one that was set is known
        _logger.warning("watch the sources of this application at %s", shown)
    return observer
