"""The slow path: record by record, in Python, for records that the native path does not decode.

`wire` reads what a record is made of, `messages` collects the fields of a message, `slow_path_decoder` makes a row of
them. It has the same rules as `protobuf_rows.c` and knows the reason why a record is bad. It is a reader of its own
because Google's reports no reason, and has the entries of a map in an order of its own.
"""
