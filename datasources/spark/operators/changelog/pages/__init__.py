"""The state of one bucket by the hashes of keys, written in proportion to what changes.

Reading order: `page_directory` lists what is stored; `updates` are rows that replace those of pages; `state_pages`
reads, replaces and compacts rows; `page_cache` keeps what a worker has read; `stored_integers` stores integers in few
bytes.
"""
