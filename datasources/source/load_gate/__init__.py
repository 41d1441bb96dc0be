"""A probe source is not read before its build sources are loaded.

`gate` is one source's side, as a probe and as a build; `build_progress` decides when a build is loaded;
`gate_protocol` is what they exchange through the coordinator. Both decisions, loaded and open, are written into offsets
(`checkpoint.load_gate_state`).
"""
