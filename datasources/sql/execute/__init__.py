"""What each statement does: one family per file."""
