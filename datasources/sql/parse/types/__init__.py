"""Types in a definition: scalar and composite ones."""
