"""Values that several formats read.

`datetime_text` reads times, `usage_cache` keeps what records still use.
"""
