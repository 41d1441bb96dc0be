"""The driver's side: what each batch reads from tables and from the binlog.

`mysql_enumerator` plans batches. `startup_resolver` and `startup_modes` find the start position, `batch_end` where a
batch ends in the binlog (at its end, or between two transactions after so many bytes or rows), `chunk_plan` the next
chunks; `irrelevant_ranges` skips binlog without captured changes, `snapshot_progress` reports progress. `batch_read`
plans a batch query.
"""
