"""Tables: columns and types, keys, and the division into chunks.

`table_schema` reads columns, `table_keys` keys; `chunk_key` chooses the chunk key, `key_values` represents its values
as text, `key_ranges` ranges of them.
"""
