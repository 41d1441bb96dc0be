"""What the demo's queries answered, compared with the truth, and the timeline of their watermarks."""
