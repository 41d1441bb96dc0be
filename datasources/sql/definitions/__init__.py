"""Definitions of tables, views and functions.

They are stored as flat properties (`properties`), written as SQL (`show_create`), changed
(`alter_table`) and copied (`create_like`). Secrets stay out of them (`option_secrets`).
"""
