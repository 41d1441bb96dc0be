"""`tidemark sql`: scripts and a prompt."""
