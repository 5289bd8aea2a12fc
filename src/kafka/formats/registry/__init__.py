"""The client of a schema registry: Confluent's HTTP API.

Layer 4: imports `cluster/` (retries) and the layers below it.

`schemas`, `settings` and `associations` have the objects that the registry stores, `options` a client's
configuration, and `credentials` its authentication. `exchange` sends a request with an HTTP library, to one of several
URLs, and retries; `cache` stores responses. `async_schema_calls`, `async_setting_calls` and `async_association_calls`
are the client's calls; `scripts/twins.py` generates `schema_calls` and so on from them. `async_references` looks up the
schemas that values were written with, and `async_column_calls` makes readers and writers of columns. `async_client` and
`client` own the connections. Programs import them from `kafka.schema_registry`.
"""
