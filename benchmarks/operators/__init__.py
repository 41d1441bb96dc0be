"""Stateful operators: `make bench-joins` on Spark and Flink, and engines without Spark."""
