"""The page of the sources of the application that all tests share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from datasources import register
from datasources.observe import start_observer

__all__ = ["observed_page"]


@contextmanager
def observed_page(spark: Any) -> Iterator[str]:
    """Watch the application's sources, as with spark.tidemark.ui.port; give the page's address."""
    register(spark)
    coordinator = spark.sparkContext._tidemark_coordinator
    observer = spark.sparkContext._tidemark_observer = start_observer(coordinator.registry.tables)
    register(spark)
    try:
        yield observer.url
    finally:
        observer.close()
        del spark.sparkContext._tidemark_observer
        register(spark)
