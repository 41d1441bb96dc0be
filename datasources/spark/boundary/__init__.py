"""The boundary to Spark's processes.

`errors` puts an error's code and message into the first line, `redaction` hides secret options in plans, `worker_heap`
keeps a worker's garbage collection from traversing the libraries that it has loaded.
"""
