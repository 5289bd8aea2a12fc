"""The options of the source and sink, from Spark's text to frozen objects. Pure.

`option_table` has a row for each option; `parsing` makes `ReadOptions` and `WriteOptions` of them with the parsers in
`values`. `client_options` are the options of the clients (`kafka.*`), `field_options` those of typed keys and values.
`columns` are the columns of a read or a write.
"""
