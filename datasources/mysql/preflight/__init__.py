"""Checks that a server, a login and tables meet the requirements of the source; read-only."""
