"""Values: the statements that are ours, and the tables, views and functions that they define."""
