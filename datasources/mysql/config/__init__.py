"""MySQL's options, the tables that a source captures, and the metadata columns."""
