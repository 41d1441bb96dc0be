"""Reading tables in chunks as of a mark.

`chunks` is the sequence: wait until everything up to the mark is visible (`barrier`, `sessions`), SELECT the chunk
(`bounds_plan`, `result_rows`, `native_rows`), undo what changed since (`undo`).
"""
