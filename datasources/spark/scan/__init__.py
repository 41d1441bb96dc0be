"""From a user's options to a scan: `scan` is the one path that batch, streaming, `load()` and `read_stream()` share."""
