"""The native path: documents in one pass by the C library (`json_rows.c` defines which ones it accepts).

`node_tree` is a schema as C reads it, `native_decoder` runs C and makes columns of the values, `local_times` converts
times without a zone.
"""
