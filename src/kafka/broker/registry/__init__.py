"""The embedded schema registry: Confluent's HTTP API beside the embedded broker; for development and tests.

Top down: `server` owns the file and `http_server`, which reads requests from a socket of the loopback interface;
`routes` finds the `operations` that a path stands for. Those work on the `store`: subjects with their versions, schemas
by id, settings. `names` has contexts, `schema_types` what is different from one type of schema to the other, `avro`
that for Avro. `refusals` has Confluent's error codes.

It has no library of its own under it: a broker that a test starts should need no more than pip installs anyway.
"""
