"""Asyncio modules, from which `scripts/twins.py` generates synchronous twins of the same names in `_sync/`."""
