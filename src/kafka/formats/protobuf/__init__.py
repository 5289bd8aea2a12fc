"""Protobuf: descriptors of schemas, messages as objects, and values as Arrow columns and back.

Messages are objects of the library protobuf. `files` finds descriptors, with grpcio-tools' compiler where a schema is
text; `text` writes one as text; `columns` has ptars fill Arrow columns, and checks what that lets through.
"""
