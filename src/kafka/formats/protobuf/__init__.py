"""Protobuf: descriptors of schemas, messages as objects, and values as Arrow columns and back.

Messages are objects of the library protobuf. `files` finds descriptors, with grpcio-tools' compiler if a schema is
text; `text` writes one as text; `columns` has ptars fill Arrow columns, and refuses values that ptars should not
accept.
"""
