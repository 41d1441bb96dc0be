"""Row events: table maps, spans of rows and columns, decoded runs of events, and the transaction of each."""
