"""The web UI of ``kafka ui``: topics, groups, messages and Spark queries of a cluster, for a browser.

Layer 7, behind the extra "ui". It imports the admin client and bounded reads; the command line imports it.

The pages are HTML with SVG charts, both generated here. They work without JavaScript: `static/live.js` only replaces
parts of a page with newer ones. All text goes through `html` (`kafka.display.page_elements`), which escapes it.
`poller.py` polls the cluster once for all viewers, `search.py` reads messages, `guard.py` checks every request first,
and `web_server.py` runs the server.
"""
