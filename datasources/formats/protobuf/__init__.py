"""The core of the format Protobuf: batches of encoded messages of one type to typed columns.

`schema` reads descriptors and derives columns, `linking` turns a message's descriptor and columns into steps.
`protobuf_decoder` is the decoder; `protobuf_engine` chooses the path of each record, which never shows in its row:
`native_path` (whole batches, in C) or `slow_path` (record by record, with the reason why one is bad).
"""
