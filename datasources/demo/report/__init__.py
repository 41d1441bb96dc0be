"""What the demo shows: the terminal, the page and its charts."""
