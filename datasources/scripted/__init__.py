"""The scripted source: a directory of JSON-lines files as a stream, one split per file.

It exists for tests, for trying out watermark strategies without a server, and as the smallest complete example of a
source: docs/write-a-source.md explains it file by file.
"""
