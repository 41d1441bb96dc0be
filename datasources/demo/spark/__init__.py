"""The local Spark of the demo: session, SPARK_HOME, Spark's own Kafka source, a probe for `tidemark doctor`."""
