"""The boundary to Spark's processes: errors cross it with their own sentence first; a worker's heap is frozen."""
