"""The calls of the synchronous client of a schema registry, generated from `_async` by `scripts/twins.py`."""
