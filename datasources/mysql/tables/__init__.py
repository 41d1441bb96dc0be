"""Tables: columns and types, keys, and how a table is cut into chunks.

`table_schema` reads columns, `table_keys` keys; `chunk_key` chooses the key that cuts, `key_values` are its values as
text, `key_ranges` ranges of them.
"""
