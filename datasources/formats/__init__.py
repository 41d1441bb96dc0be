"""Formats: bytes to typed Arrow columns."""
