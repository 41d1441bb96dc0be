"""Backfill undo: rows that were read later than the mark are taken back to it.

`window` reads the binlog between the mark and the SELECT, `rewind` undoes by key, `keyless` as a multiset;
`image_keys`, `image_texts` and `text_comparison` decide on which side of a chunk's bound a row lies; `row_codes`
compares rows as numbers.
"""
