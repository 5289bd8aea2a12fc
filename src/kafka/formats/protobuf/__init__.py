"""The Protobuf format: descriptors of schemas, and conversion of values to messages and Arrow columns and back.

Messages are objects of the library protobuf. `descriptors` makes descriptors from schemas (from text with grpcio-tools'
compiler), and text from descriptors. `column_codec` lets ptars fill Arrow columns, and rejects values that ptars should
not accept.
"""
