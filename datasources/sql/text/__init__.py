"""The shape of a statement, without knowing tables: what is above `datasources.grammar` and below the parser.

`script` splits a text into statements, `error_location` locates errors in stored definitions. `word_cursor`,
`query_tree` and `calls` are the shape of a query. `quoting` writes names that are read back as the same, `substitute`
and `expression_names` change columns inside expressions.
"""
