"""The options of the source and sink, parsed from Spark's text into frozen objects. Pure.

`option_table` has a row for each option. `parsing` turns them into `ReadOptions` and `WriteOptions` with the parsers in
`value_parsers`. `client_options` contains the options of the clients (`kafka.*`), and `field_options` those of typed
keys and values. `row_schema` describes the columns of reads and writes.
"""
