"""One partition twelve hours behind: what alignment does to the state of a query. Run `python examples/skew.py`."""
