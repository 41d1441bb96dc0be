"""The format `csv`: one line of the declared columns in each record, read as Flink's CSV format reads it.

`dialect` has the options, `csv_types` the types. `split_batch` splits records into fields: most of them at once by
Arrow's parser, where every parser finds the same fields, the others one by one (`split_line`). `field_columns` makes
columns of fields: most of them at once, the others one by one (`field_values`), which together with `split_line` has
all the rules.
Source: Flink CsvRowDataDeserializationSchema and CsvToRowDataConverters, Jackson CsvDecoder.
"""
