"""The framework under every source: splits, offsets, planning, reading, the channel. No Spark, no driver."""
