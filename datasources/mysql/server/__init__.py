"""The server that is read: its connection on the driver, its log, and what happens when another server takes its place.

`server_view` and `server_log` ask, `log_files` counts bytes between places, `continuity` checks that a checkpoint can
go on, `server_switch` translates a batch to another server, `reconciled_state` is the state after a batch.
"""
