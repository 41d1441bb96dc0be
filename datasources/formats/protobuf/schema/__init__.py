"""Protobuf's descriptors.

`message_type` finds a message among the files of a descriptor set, `protobuf_columns` derives columns.
"""
