"""The sides of Nexmark: each is a process whose JVM stays, and which runs one query after the other (`side_main`)."""
