"""A client for Confluent's schema registry and its HTTP API.

Layer 4: imports `cluster/` (retries) and the layers below it.

`schema_objects` and `associations` define the objects that the registry stores, and `client_options` the client's
configuration. `exchange` authenticates requests, sends each to one of several URLs with an HTTP library, and retries
it; `responses` checks and caches the responses. `_async` has the calls of the asyncio client: `schema_calls`,
`setting_calls` and `association_calls` send requests, `named_schemas` looks up writers' schemas, and `column_calls`
makes column readers and writers (`schema_columns`). `scripts/twins.py` generates `_sync` from `_async`.
`registry_clients` has the two clients, which own the connections; programs import them from `kafka.schema_registry`.
"""
