"""Reading tables in chunks as of a snapshot position.

`chunks` is the sequence: wait until everything up to the position is visible (`barrier`, `sessions`), SELECT the chunk
(`bounds_plan`, `result_rows`, `native_rows`), undo what was changed after the position (`undo`).
"""
