"""Types in a definition: scalar ones and those made of others."""
