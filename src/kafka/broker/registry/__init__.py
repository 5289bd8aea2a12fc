"""The embedded schema registry: Confluent's HTTP API for the embedded broker, for development and tests.

From the top down: `http_server` owns the file, and reads requests from a socket on the loopback interface. `routes`
maps paths to operations in `subject_queries`, `registering` and `subject_settings`. Those use the `store`: subjects
with their versions, schemas by id, and settings. `schema_types` contains the code that depends on the schema type, and
`registry_errors` contains Confluent's error codes.

It uses only the standard library, so a broker in a test needs no packages beyond those that pip installs anyway.
"""
