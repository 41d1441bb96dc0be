"""Values to Arrow arrays, one function per type and form, without a table of types.

`cells` is a column of bytes. `numbers`, `temporal` and `texts` decode row images; `result_texts` (with `digits`) and
`result_binary` decode the two protocols of a SELECT; `key_texts` writes keys as canonical texts; `json` is binary JSON.
"""
