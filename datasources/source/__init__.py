"""The framework under every source: splits, offsets, watermarks, planning, reading. It imports no Spark and no client.

Read in this order; each folder imports only those before it:

* `api`: what a connector implements (enumerator, reader, abilities, connector state);
* `checkpoint`: what a batch is on disk;
* `watermarks`: from candidates of rows to the watermark of the source; idleness, processing time;
* `load_gate`: a source that waits until another one is loaded;
* `coordination`: the driver's server to which tasks report and through which sources exchange their statuses;
* `alignment`: how far each split may go, so that none runs ahead;
* `reading`: a task on an executor, from ranges to rows with row watermarks and a report;
* `planning`: decides on the driver what the next batch is. `planning.decide` is the sequence.
"""
