"""The settings of a scan.

`scan_settings` holds what readers need of the options, `row_options` defines options of rows and batches, `reader_ids`
names the readers at the server.
"""
