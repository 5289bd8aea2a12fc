"""The client of a schema registry: Confluent's HTTP API.

Layer 4: imports `cluster/` (retries) and the layers below it.

`schema_objects` and `associations` have the objects that the registry stores, and `client_options` a client's
configuration. `exchange` authenticates a request, sends it with an HTTP library to one of several URLs, and retries;
`responses` checks and caches the answers. `_async` has the calls of the asyncio client: `schema_calls`, `setting_calls`
and `association_calls` are requests, `named_schemas` looks up the schemas that values were written with, and
`column_calls` makes readers and writers of columns (`schema_columns`). `scripts/twins.py` generates `_sync` from
`_async`. `registry_clients` has the two clients, which own the connections. Programs import them from
`kafka.schema_registry`.
"""
