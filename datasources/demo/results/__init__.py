"""What the demo's queries returned, compared with the truth, and the timeline of their watermarks."""
