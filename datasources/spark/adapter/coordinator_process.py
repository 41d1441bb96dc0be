"""The process of an application's coordinator: `python -m datasources.spark.adapter.coordinator_process DIRECTORY`.

Its settings come from standard input, as they hold keys. It ends when Spark deletes the application's directory; when
another coordinator has taken its place; or, should Spark have been killed, two minutes after its last connection.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any, Final

from datasources.errors import CoordinatorError
from datasources.source.coordination.server import Coordinator
from datasources.spark.adapter.application_coordinator import is_current, write_endpoint
from watermark import SystemClock

_LOOK_S: Final = 1.0
_UNUSED_S: Final = 120.0
_NS_PER_S: Final = 1_000_000_000


def serve(directory: Path, settings: dict[str, Any], *, unused_s: float = _UNUSED_S) -> None:
    """Serve until the application has ended.

    Args:
        directory: of the driver's JVM.
        settings: the fields of `CoordinatorSettings`; port and key of the predecessor, if there was one.
        unused_s: after how many seconds without a connection it ends.

    Raises:
        CoordinatorError: it cannot listen.
        OptionError, EnvironmentProblem: the page cannot be served.
    """
    coordinator = _coordinator(settings)
    coordinator.registry.expect_no_listener()
    page_url = None if settings["page"] is None else _page_url(coordinator, settings["page"])
    waiting, clock = threading.Event(), SystemClock()
    try:
        with write_endpoint(coordinator.endpoint, directory, page_url=page_url) as file:
            last_used_ns = clock.monotonic_ns()
            while is_current(file, directory) and clock.monotonic_ns() - last_used_ns < unused_s * _NS_PER_S:
                if coordinator.connections > 0:
                    last_used_ns = clock.monotonic_ns()
                waiting.wait(_LOOK_S)
    except FileNotFoundError:
        return  # the application ended in the meantime
    finally:
        coordinator.close()


def _coordinator(settings: dict[str, Any]) -> Coordinator:
    host, bind, port = settings["host"], settings["bind"], settings["port"]
    last_key = bytes.fromhex(settings["last_key"]) if "last_key" in settings else None
    if "last_port" in settings:
        try:
            return Coordinator(host=host, bind=bind, port=settings["last_port"], key=last_key)
        except CoordinatorError:
            if port:  # a fixed one, and the same
                raise
    return Coordinator(host=host, bind=bind, port=port, key=last_key)


def _page_url(coordinator: Coordinator, page: dict[str, Any]) -> str:
    from datasources.observe.access import RemoteAccess
    from datasources.observe.server import start_observer  # not needed without a page

    remote = RemoteAccess(token=page["token"], names=tuple(page["names"]), frames=tuple(page["frames"]))
    return start_observer(coordinator.registry.tables, host=page["host"], port=page["port"], remote=remote).url


if __name__ == "__main__":
    serve(Path(sys.argv[1]), json.load(sys.stdin))
