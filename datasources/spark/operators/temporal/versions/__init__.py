"""The versions of a changing table, by key and time.

`changelog_columns` adds the columns that the operator needs of a changelog, `changelog_images` drops the before-images
that the after-image of the same update replaces; `version_changes` turns a micro-batch of changes into versions,
`versions` finds the version that was valid at a time, `version_cache` caches decoded versions in the worker.
"""
