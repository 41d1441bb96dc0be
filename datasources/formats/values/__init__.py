"""Values that several formats read.

`datetime_text` reads times, `zones` knows time zones, `ranked` keeps what was learned from records while it is used.
"""
