"""The sides that read the binlog of a TPC-C load: each is a process whose JVM stays (`side_main`)."""
