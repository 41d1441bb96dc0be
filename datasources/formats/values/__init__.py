"""Values that several formats read.

`datetime_text` reads times, `zones` resolves time zones, `usage_cache` keeps templates that records still use.
"""
