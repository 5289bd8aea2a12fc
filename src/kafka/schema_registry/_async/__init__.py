"""Asyncio serializers and deserializers.

`scripts/twins.py` generates the modules of `_sync` from these.
"""
