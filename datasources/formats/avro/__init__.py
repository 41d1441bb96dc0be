"""The core of the format Avro: batches of binary datums of one writer's schema to typed columns.

`schema` reads schemas and derives columns, `resolution` turns a writer's schema, a reader's schema and columns into the
steps of a record. `avro_decoder` is the decoder and `avro_engine` chooses the path of each record, which never shows in
its row: `native_path` (whole batches, in C) or `slow_path` (record by record, with the reason why one is bad).
"""
