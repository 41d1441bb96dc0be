"""What a scan is.

`scan_settings` is everything that options decided, `row_options` how rows are given, `reader_ids` how the server tells
our readers apart.
"""
