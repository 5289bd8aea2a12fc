"""The page of ``kafka ui``: topics, groups, messages and Spark queries of a cluster, for a browser.

Layer 7, behind the extra "ui". It imports the admin client and bounded reads; the command line imports it.

The pages are HTML that is made here, with pictures as SVG, and work without a script; `static/live.js` only puts newer
parts in their place. All text goes through `html` (`markup.py`), which escapes it. `poller.py` asks the cluster, once
for all viewers; `search.py` reads messages; `guard.py` is asked about every request first; `server.py` runs it.
"""
