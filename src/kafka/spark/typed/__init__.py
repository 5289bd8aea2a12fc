"""Typed keys and values of Spark's source and sink: decodes bytes to columns of Spark's types, and encodes them.

`spark_types` maps Arrow types to Spark's. `reader_schema` determines the schema of a read once, when it is planned, and
`decoding` creates its columns in the tasks. `writer_schema` and `encoding` do the same for a write. `spark_json` parses
columns that Spark has written as JSON. `registry` contains the schema registry clients of this process. The options are
in `options.field_options`.
"""
