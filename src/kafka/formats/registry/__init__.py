"""A client for Confluent's schema registry and its HTTP API.

Layer 4: imports `cluster/` (retries) and the layers below it.

`schema_objects` and `associations` define the objects that the registry stores, and `client_options` the client's
configuration. `exchange` authenticates requests, sends each to one of several URLs with an HTTP library, and retries
failed requests; `responses` checks and caches the responses. `_async` contains the calls of the asyncio client:
`schema_calls`, `setting_calls` and `association_calls` send requests, `named_schemas` looks up writers' schemas, and
`column_calls` makes column readers and writers (`schema_columns`). `scripts/twins.py` generates `_sync` from `_async`.
`registry_clients` defines the two clients, which own the connections; programs import the clients from
`kafka.schema_registry`.
"""
