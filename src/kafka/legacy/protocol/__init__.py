"""kafka-python's messages and types of the wire, made from the declarations in `kafka.wire`.

Users wrote messages of their own with `types` and `struct`. `layouts` turns a version of a declared message into a
schema of such types, with the names of `field_names`; `catalogue` makes the classes that each old module had.
`payload_conversion` converts between the payload tuples of `SimpleClient` and messages; `kafka_protocol` is the class
of that name.
"""
