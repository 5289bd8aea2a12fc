"""Converts JSON to Arrow columns and back, strictly: values that do not fit the type are reported, never guessed.

Of the modules, `schema` makes Arrow types of a program's schemas (`ddl`, `spark_types`, `json_schema`); `plan` makes
readers of a type, `columns` has the decoder. `scan`, `cursor`, `texts`, `numbers`, `skip`, the modules of readers and
`rows` are compiled, or inlined into what is.
"""
