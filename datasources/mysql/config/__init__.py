"""MySQL's options, which tables a source captures, and the metadata columns beside a table's own."""
