"""Columns under evaluation: numpy arrays with a null mask and an error mask.

`vectors` is the type, `spark_types` are its types, `comparison` is Spark's order of values, `kernel_call` is what a
kernel takes and returns.
"""
