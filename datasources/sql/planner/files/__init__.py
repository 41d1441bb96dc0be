"""Tables with `'connector' = 'filesystem'`: Flink's options and files, by Spark's file sources and sinks.

`file_options` declares the connector's options. `file_formats` lists the formats; each makes a `FileLayout`: the
columns of the files, and the SQL between them and the values of the table (`value_text`). `file_table` is a table made
of both, with the columns that are in the names of directories.
"""
