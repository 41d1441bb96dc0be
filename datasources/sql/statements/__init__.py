"""Values: the statements that Tidemark runs itself, and the tables, views and functions that they define."""
