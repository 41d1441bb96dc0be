"""A single-node Kafka on loopback: `kafka_server`, its configuration, and a listener with TLS and a login."""
