"""Declarations of the messages: one module per API, with all versions of both Kafka 3.9 and 4.3.

A module contains the request, the response, and their structs under Kafka's names. If the two messages have different
structs of the same name, each is prefixed with its message's name. Each field is declared with the versions that have
it. Imports `kafka.wire.fields` and `kafka.wire.message` only.

To add a message, add a module here, and its name to `API_NAMES` (for a request) or `OTHER_MODULES` of
`kafka.wire.index`. To add a version, add its fields, each with the versions that have it. ``scripts/draft_messages.py``
drafts the additions of a Kafka release. tests/data/protocol needs messages of each version, encoded by Kafka's own
codec.
"""
