"""Connections.

`connection` opens one, with errors that name the remedy; `tls`, `auth_plugins` and `packet_stream` are its parts.
`server_dialect` is the one place for what differs between servers; `quoting` writes names and texts as SQL.
"""
