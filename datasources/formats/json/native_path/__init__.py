"""The native path: documents in one pass by the C library (`json_rows.c` defines which ones it accepts).

`node_tree` is a schema as C reads it, `node_buffers` receives the values and grows, `native_decoder` runs C and makes
columns of them, `local_times` converts times without a zone.
"""
