"""The embedded schema registry: Confluent's HTTP API for the embedded broker; for development and tests.

Top down: `http_server` owns the file and reads requests from a socket of the loopback interface; `routes` maps paths to
operations in `subjects`, `registering` and `subject_settings`. Those work on the `store`: subjects with their versions,
schemas by id, settings. `schema_types` holds what differs between the types of schema, `avro` that for Avro.
`registry_errors` has Confluent's error codes.

It uses the standard library only: a broker that a test starts should need no more than pip installs anyway.
"""
