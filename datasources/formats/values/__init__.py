"""Values that several formats read.

`datetime_text` reads times, `session_zone` is the zone of those without one, `scalar_text` reads numbers and bytes,
`decompression` compressed bytes, `payload_texts` whole payloads; `excerpt` is what a message shows of a payload,
`usage_cache` keeps what records still use.
"""
