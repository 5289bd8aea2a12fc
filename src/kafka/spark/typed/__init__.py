"""Typed keys and values of Spark's source and sink: bytes to columns of Spark's types, and back.

`field_options` are the options; `spark_types` says which type of Spark a column of Arrow becomes; `reader_schema` fixes
the schema that a read gives, once, when it is planned; `decoding` makes its columns in the tasks. `writer_schema` and
`encoding` do the same for a write; `spark_json` reads columns that Spark has written as JSON. `registry` keeps the
clients of schema registries of this process.
"""
