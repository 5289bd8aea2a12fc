"""kafka-python's messages and types of the wire, made from the declarations in `kafka.wire`.

`types` and `struct` are what users wrote messages of their own with. `layouts` turns a version of a declared message
into a schema of such types, under the names of `names`; `catalogue` makes the classes that each old module had.
`payloads` goes between the payload tuples of `SimpleClient` and messages; `kafka_protocol` is the class of that name.
"""
