"""Programs that run as they stand, from the project's root, and prove what the documentation says."""
