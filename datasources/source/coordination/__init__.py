"""The driver's coordinator: tasks report what they read, sources of an application exchange their statuses.

`wire` frames and authenticates messages; `server` and `client` are the two ends; `registry` (with `gate_registry`) is
what the server knows, without sockets; `reports` and `request_fields` are what is sent, `report_store` is where a
planner takes reports from. `group` derives a source's bound from the statuses of its alignment group, `lease` renews a
source's lease while its process lives; a source whose lease ended counts as gone.
"""
