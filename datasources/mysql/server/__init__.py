"""The server that is read: its connection on the driver, its log, and the switch to another server.

`server_view` and `server_log` query, `log_files` counts bytes between positions, `continuity` checks that a checkpoint
can be resumed, `server_switch` translates a batch to another server, `reconciled_state` is the state after a batch.
"""
