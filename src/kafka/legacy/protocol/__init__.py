"""kafka-python's messages and types of the wire, made from the declarations in `kafka.wire`.

Programs define their own messages with `schema_types`. `layouts` turns one version of a declared message into such a
schema, with kafka-python's field names. `catalogue` makes the classes of each module up to 2.x, `kafka_python_3` those
of 3. `payload_conversion` converts between the payload tuples of `SimpleClient` and messages; `kafka_protocol` contains
the class of that name.
"""
