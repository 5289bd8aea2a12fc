"""What `make docs` does around Sphinx: `sources` prepares the pages, and `python -m scripts.site` checks the result.

`chapters` splits long guides into pages, `browser` measures the pages in Chromium, and `finding` searches them in Node.
The look of the site is in `docs/conf.py` and `docs/_static`.
"""
