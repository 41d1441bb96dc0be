"""What a server, a login and tables must be like for their changes to be read; looked at without changing anything."""
