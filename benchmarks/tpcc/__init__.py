"""A load like TPC-C's on MySQL, whose changes are copied: the proof that copies are equal, and what reading them costs.

The nine tables, their first rows and the five transactions are those of the specification (revision 5.11), in fewer
rows. It is a load for a reader of changes and no run of the benchmark: there are no key times, no think times, and no
score is given. Where it differs:

* `history` has no primary key there. `tidemark mysql sync` refuses a table without one, so it has the column `h_id` in
  front, which the server numbers.
* A terminal goes on with the next transaction at once. Its home warehouse is fixed, its district is not.
* There are no foreign keys: they change nothing in the binlog.

Read `schema`, `random_values`, `population` (the first rows) and `loading`; then `transactions` and `terminals`, which
run them; `consistency` (the specification's conditions) and `checksum` judge a copy. `sides` reads the binlog, and
`__main__` measures.
"""
