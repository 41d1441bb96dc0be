"""The versions of a changing table, by key and time.

`changelog_columns` and `changelog_images` turn the rows of a changelog into changes, `version_changes` a batch of
changes into versions, `versions` finds the version that was valid at a time, `version_cache` keeps decoded ones in
the worker.
"""
