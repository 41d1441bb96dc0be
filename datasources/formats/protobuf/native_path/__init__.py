"""The native path: records in one pass by the C library.

`step_table` has the steps as C reads them, `native_decoder` runs C and makes columns of the values.
"""
