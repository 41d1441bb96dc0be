"""What a batch is on disk: the offset that Spark writes into the checkpoint before each batch.

`offset` has everything that a source remembers; a batch can be read again from its own end offset. `offset_codec` is
its compact JSON, `log_identities_codec` and `load_gate_state` are optional parts of it, `identity` is what a checkpoint
must match. Offsets of older versions load.
"""
