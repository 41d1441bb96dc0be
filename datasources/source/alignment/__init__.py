"""Alignment: no split and no source runs ahead of the slowest by more than the allowed drift.

`aligner` decides how far each split goes; it looks at the next records of paused splits (`lookahead`, kept in
`candidates` for each `pending_split`), honours the ends reserved for other sources (`reserved_ends`) and shares the
row budget (`admission`). `positional` is for logs whose records may vanish.
"""
