"""The text of a statement, without knowing tables.

`lexer` splits it into tokens with exact spans, `script` into statements, `source_text` locates errors in it
(`error_location`). `word_cursor`, `query_tree` and `calls` are the shape of a query. `quoting`, `literals` and
`string_literals` write text that is read back as the same, `substitute` and `expression_names` change columns inside
expressions.
"""
