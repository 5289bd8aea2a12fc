"""Converts JSON to Arrow columns and back, strictly: values that do not fit the type are reported, never guessed.

`schema` makes Arrow types from user schemas (`spark_schema` from Spark's). `column_decoder` decodes into columns and
makes the readers of a type; `column_encoder` encodes columns. `scan`, `cursor`, `texts`, `numbers`, `skip`, `rows` and
the modules of readers and writers are compiled, or inlined into compiled modules.
"""
