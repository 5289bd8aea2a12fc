"""The client of a schema registry: Confluent's HTTP API. Layer 4: imports `cluster/` (retries) and what is
below it.

`schemas`, `contracts`, `tags`, `settings` and `associations` have what the registry keeps, `options` what a client is
configured with, `credentials` how it proves who it is. `exchange` sends one request by an HTTP library, to one of
several URLs and again where that may help; `cache` has what was answered before. `async_schema_calls`,
`async_setting_calls` and `async_association_calls` are the client's calls, from which `scripts/twins.py` writes
`schema_calls` and so on. `async_writers_schemas` finds the schemas that values were written with; `async_column_calls`
makes readers and writers of columns. `async_client` and `client` own the connections. Programs import them from
`kafka.schema_registry`.
"""
