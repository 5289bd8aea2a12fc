"""kafka-python's protocol messages and types, generated from the declarations in `kafka.wire`.

Programs define their own messages with `schema_types`. `layouts` converts one version of a declared message to such a
schema, with kafka-python's field names. `catalogue` creates the classes of each module up to 2.x, and `kafka_python_3`
those of version 3. `payload_conversion` converts between the payload tuples of `SimpleClient` and messages;
`kafka_protocol` contains the class of that name.
"""
