"""The versions of a changing table, by key and time.

`changelog_columns` and `changelog_images` make changes of a changelog's rows, `version_changes` makes of changes
into versions, `versions` finds the version that was valid at a time, `version_cache` keeps decoded versions in the
worker.
"""
