"""Values that several formats read.

`datetime_text` reads times, `usage_cache` keeps templates that records still use.
"""
