"""Formats of values: bytes to typed Arrow columns. Layer 2: imports `record/` and what stands below it.

`columns` has the columns that a decoder fills value by value; a value that cannot be decoded is taken back and is
null, with its cause beside the column. `avro` has Avro: `schema` the types, `matching` and `plan` which reader fills
which column, `types` what types are in Arrow; `cursor`, the modules of readers, `skippers` and `rows` are compiled;
`columns` has the decoder.
"""
