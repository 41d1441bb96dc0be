"""Shows the watermark of every split: a page, its JSON, metrics for Prometheus, a table in the terminal.

It knows tables of JSON primitives and nothing of Spark, so it runs in any process that has such tables.
"""

from datasources.observe.server import Observer, start_observer

__all__ = ["Observer", "start_observer"]
