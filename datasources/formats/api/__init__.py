"""What a format implements, its options, and what becomes of bad records."""
