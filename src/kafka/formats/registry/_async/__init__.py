"""The calls of the asyncio schema registry client.

`scripts/twins.py` generates the modules of `_sync` from these.
"""
