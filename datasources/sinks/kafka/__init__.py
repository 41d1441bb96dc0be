"""Topics as sinks: of upserts (`'connector' = 'upsert-kafka'`), and of rows that are only added (`'kafka'`).

Theory of operation. An action of a topic of upserts is one record: the key as a JSON object, and as value the row, or
for a delete nothing (a tombstone). A key goes to the partition that Kafka's own client chooses for it, so its records
are in order. Tasks produce with idempotence and wait for every acknowledgement; a batch is written once all are there.
A batch that is written again appends its records again: a reader that takes the last record of each key sees the same
table (at least once).

Rows are appended in the same way, or exactly once: then the driver writes a batch in one transaction, together with its
number, and passes over a batch whose number is there.

Reading order: `topic_options` is what tables say, `record_texts` makes records, `record_producer` sends them from
tasks, `batch_transaction` from the driver; `upsert_kafka_sink` and `kafka_sink` are the sinks. What they share with
dead letters is in `kafka/producer/producers`, `kafka/producer/transactions` and `kafka/producer/target_topic`.
"""
