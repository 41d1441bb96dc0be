"""Programs that run unchanged, from the project's root, and prove the documentation's claims."""
