"""What a release needs: `make wheels`."""
