"""Making Spark's stateful operators follow the reader's watermark.

`register`, `read_stream`, `attach`, the listener.
"""
