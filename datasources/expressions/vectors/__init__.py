"""Columns under evaluation: numpy arrays with a null mask and an error mask.

`vectors` has the vector, `comparison` Spark's order of values, `kernel_call` the
arguments and the result of a kernel.
"""
