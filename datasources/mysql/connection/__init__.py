"""Connections.

`connection` opens one, with errors that name the remedy, by `tls` and `auth_plugins`; `packet_stream` reads packets.
`server_dialect` has the differences between servers; `quoting` writes names and texts as SQL.
"""
