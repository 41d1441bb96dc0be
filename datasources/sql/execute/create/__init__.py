"""CREATE TABLE where the columns come from elsewhere: from the connector, or from a query (AS SELECT)."""
