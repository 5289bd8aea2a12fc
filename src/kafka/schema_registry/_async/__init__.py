"""Serializers and deserializers that are awaited.

`scripts/twins.py` generates the modules of `_sync` from these.
"""
