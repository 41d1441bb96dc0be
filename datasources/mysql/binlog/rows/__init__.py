"""Row events: table maps, where rows and columns lie, decoded runs of events, and which transaction each belongs to."""
