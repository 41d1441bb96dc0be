"""CREATE TABLE and ALTER TABLE: columns, watermarks, keys, LIKE."""
