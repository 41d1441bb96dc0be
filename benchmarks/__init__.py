"""Benchmarks against the peers, in the same run, alternating. Nothing here is asserted by a test."""
