"""Protobuf's descriptors.

`message_type` finds a message among the files of a descriptor set, `protobuf_columns` derives columns, `field_kinds`
has what fields are. `registered_files` compiles the schemas of a registry, `message_indexes` finds a record's message.
"""
