"""Formats of values: bytes to typed Arrow columns or objects. Layer 2: imports `record/` and what stands below it.

`columns` has the columns that a decoder fills value by value; a value that cannot be decoded is taken back and is
null, with its cause beside the column. `avro` has Avro: `schema` the types, `matching` and `resolution` which type of
the writer is read as which of the reader. `types` is what types are in Arrow, `plan` makes the readers that fill
columns (`byte_readers`, `number_readers`, `nested_readers`), `columns` has the decoder; `object_plan` makes those that
return objects (`object_readers`, `logical_objects`, `nested_objects`), `object_decoder` has the decoder.
`writer_plan` makes what writes objects (`object_writers`, `logical_writers`, `nested_writers`, `union_writers`, into an
`output`), `object_encoder` has the encoder; `arrow_binding` what writes the rows of Arrow columns (`arrow_writers`),
`column_encoder` has the encoder, and `arrow_schema` the schema of columns.
`json` has JSON likewise.
"""
