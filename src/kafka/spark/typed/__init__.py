"""Typed keys and values for the Spark source and sink: decodes bytes into columns of Spark's types, or the reverse.

`spark_types` maps Arrow types to Spark's. `reader_schema` determines the schema of a read once, when it is planned, and
`decoding` creates its columns in the tasks. `writer_schema` and `encoding` do the same for a write. `spark_json` parses
columns that Spark has written as JSON. `registry` contains this process's schema registry clients. The options are in
`options.field_options`.
"""
