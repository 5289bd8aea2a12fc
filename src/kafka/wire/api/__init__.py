"""The messages, declared: one module per API, all versions of Kafka 3.9 and 4.3 together.

A module holds the request, the response, and the structs inside them under Kafka's names; a struct that both messages
have under one name but not alike is prefixed with the message's name. Which versions have a field stands beside it.
Imports `kafka.wire.fields` and `kafka.wire.message` only.

To add a message or a version: a module here, or its fields with their versions; ``scripts/draft_messages.py`` drafts
what a release of Kafka adds.
"""
