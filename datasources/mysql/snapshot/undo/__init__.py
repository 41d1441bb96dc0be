"""Backfill undo: changes between the snapshot position and the SELECT of a chunk are undone.

`backfill` reads those changes from the binlog, `backfill_ddl` classifies statements among them; `keyed_undo` undoes
changes by key, `multiset_undo` without one. `image_keys`, `image_texts` and `text_comparison` compare keys with the
bounds of a chunk; `row_codes` compares rows as numbers.
"""
