"""What a batch is on disk: the offset that Spark writes into the checkpoint before each batch.

`offset` is the source's whole memory, `offset_codec` its compact JSON, `log_identities_codec` and `load_gate_state`
optional parts of it, `identity` what a checkpoint must match. Offsets of older versions load.
"""
