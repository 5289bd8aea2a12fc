"""The Protobuf format: descriptors of schemas, and conversion of values to messages and Arrow columns and back.

Messages are objects of the library protobuf. `descriptors` converts schemas to descriptors (it compiles text with
grpcio-tools), and descriptors to text. `column_codec` uses ptars to fill Arrow columns, and rejects values that ptars
should not accept.
"""
