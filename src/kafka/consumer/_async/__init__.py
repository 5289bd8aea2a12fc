"""Asyncio sources: `scripts/twins.py` writes their synchronous twins into `_sync/`, under the same names."""
