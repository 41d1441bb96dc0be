"""Backfill undo: rows that were read later than the mark are taken back to it.

`backfill` reads the binlog between the mark and the SELECT, `keyed_undo` undoes by key, `multiset_undo` as a multiset;
`image_keys`, `image_texts` and `text_comparison` decide on which side of a chunk's bound a row lies; `row_codes`
compares rows as numbers.
"""
