"""The pages of reference that are made from the code: options, errors, and the public names.

``python -m scripts.reference`` writes `docs/OPTIONS.md` and `docs/ERRORS.md`, which are kept with the sources. The
pages of names are made when the site is built (`docs/conf.py`), as they are the docstrings.
"""
