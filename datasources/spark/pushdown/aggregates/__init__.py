"""Aggregates over windows, pushed down into the reader: Spark combines partial aggregates instead of rows.

    Aggregate(window, keys; COUNT, SUM)                     Aggregate(window, keys; SUM of counts, SUM of sums)
      Window(ts)                                              Window(begin of the pane)
        Project, Filter                          ->             TableSourceScan(groups=[keys], aggregates=[COUNT, SUM])
          TableSourceScan

`aggregate_pushdown` changes Spark's analysed plan. `windowed_rows` reads what is below an Aggregate, `partial_calls`
takes its functions apart, `window_step` puts the window above the groups; `session_rows` does both for sessions.
`window_marker` is how a window is recognized in a plan; `windowed` is the function for DataFrames.

What is not certain stays as it was, with the reason (`NotPushed`).
"""
