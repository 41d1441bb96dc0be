"""The driver's coordinator: tasks report what they read, sources of an application exchange their statuses.

`wire` frames and authenticates messages; `server` and `client` are the two ends; `registry` (with `gate_registry`) is
the server's memory without sockets; `reports`, `report_store` and `request_fields` are what is sent. `group` compares
the sources of an alignment group, `lease` keeps a source known as alive.
"""
