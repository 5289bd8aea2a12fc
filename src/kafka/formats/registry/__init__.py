"""The client of a schema registry: Confluent's HTTP API.

Layer 4: imports `cluster/` (retries) and the layers below it.

`schemas`, `settings` and `associations` have the objects that the registry stores, `options` a client's
configuration, and `credentials` its authentication. `exchange` sends a request with an HTTP library, to one of several
URLs, and retries; `cache` stores responses. `_async` has the calls of the asyncio client: `schema_calls`,
`setting_calls` and `association_calls` are requests, `named_schemas` looks up the schemas that values were written
with, and `column_calls` makes readers and writers of columns (`schema_columns`). `scripts/twins.py` generates `_sync`
from `_async`. `async_client` and `client` own the connections. Programs import them from `kafka.schema_registry`.
"""
