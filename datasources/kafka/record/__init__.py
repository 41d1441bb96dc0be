"""From a record to the columns of a row.

`resolve_layout` and `resolve_keys` decide from options and schema where each column comes from (`record_layout`);
`records` decodes keys and values with `record_decoders`; `raw_columns`, `header_columns` and `record_metadata` need
no decoder.
"""
