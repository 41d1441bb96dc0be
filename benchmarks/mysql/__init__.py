"""`make bench-mysql` and `make bench-mysql-delta`: snapshots, binlogs and copies beside their peers."""
