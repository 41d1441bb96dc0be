"""Dead letters: records that give no row, written to a topic once each.

`dead_letter_options` are what tables say, `target_check` what the driver verifies at start, `raw_records` makes the
record to write of one that was read, `letter_writer` writes those of a range.

Theory of operation. A batch that is read again finds the same dead letters at the same positions. They are written in
transactions, each with the position behind its last one: the committed offset of a group of the split's own. Who writes
begins by ending the transactions of everybody else with the split's transactional id, and reads that position. What is
before it is there, and nobody else can commit any more: so two attempts of a task, or a process that was believed dead,
write no record twice, whoever of them comes first. One that was ended begins again and finds what is left to do.

The position is kept in the dead letter topic's name (its partition 0), not in the source's: brokers refuse offsets of
topics that they do not have, and the dead letter topic may be on other brokers. It also ends with the topic that it is
about: a batch that is read again writes into a topic that was created again.
"""
