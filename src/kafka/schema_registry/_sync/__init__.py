"""Serializers and deserializers that clients call, generated from `_async` by `scripts/twins.py`."""
