"""Shows the watermark of every split: a page, its JSON, metrics for Prometheus, a table in the terminal.

The planner of each source makes its table (`source.planning.summary`), the coordinator has the newest ones; `tables`
checks them, `sampler` takes them once a second, `routes` and `prometheus` show them. The names of all metrics are in
`prometheus`. Nothing here imports Spark: it works on tables of JSON primitives.
"""

from datasources.observe.server import Observer, start_observer

__all__ = ["Observer", "start_observer"]
