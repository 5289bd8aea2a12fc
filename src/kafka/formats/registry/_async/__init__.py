"""The calls of the asyncio client of a schema registry, which await each request.

`scripts/twins.py` generates the modules of `_sync` from these.
"""
