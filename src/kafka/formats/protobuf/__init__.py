"""The Protobuf format: descriptors of schemas, and conversion of values to messages and Arrow columns and back.

Messages are objects of the library protobuf. `descriptors` makes descriptors, with grpcio-tools' compiler if a schema
is text, and writes one as text. `column_codec` has ptars fill Arrow columns, and rejects values that ptars should not
accept.
"""
