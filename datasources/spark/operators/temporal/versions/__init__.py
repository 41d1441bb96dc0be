"""The versions of a changing table, by key and time.

`changelog_columns` and `changelog_images` turn the rows of a changelog into changes, `version_changes` turns changes
into versions, `versions` finds the version that was valid at a time, `version_cache` keeps decoded versions in the
worker.
"""
