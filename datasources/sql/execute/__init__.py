"""Runs statements: one family per file, with the handlers of its statements.

`queries` runs a SELECT over `session_relations`, the temporary views of its tables; `insert` also starts the stream.
`session_state` is what statements of a session share.
"""
