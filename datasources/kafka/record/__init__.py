"""From a record to the columns of a row.

`resolve_layout` and `resolve_keys` derive from options and schema where each column comes from (`record_layout`);
`records` decodes values and keys (`decoded_keys`); `raw_columns`, `header_columns` and
`record_metadata` need no decoder.
"""
