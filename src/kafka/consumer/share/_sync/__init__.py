"""Synchronous twins, which `scripts/twins.py` writes from the modules of the same names in `_async/`."""
