"""Upsert events as changes: what a key's event replaces is known from the state only.

`normalize_operator` is the operator.
"""
