"""The web UI of ``kafka ui``: health, topics, groups, messages, access and queries of clusters, for a browser.

Layer 7, behind the extra "ui". It imports the admin client and bounded reads; the command line imports it.

The pages are HTML with SVG charts, both generated here. They work without JavaScript: `static/live.js` only replaces
parts of a page with newer ones. All text goes through `html` (`kafka.display.page_elements`) or the templates
(`templating.py`), which escape it. `poller.py` polls each cluster once for all viewers, `cluster_state.py` reads what
the open pages need, `search.py` reads messages, `guard.py` checks every request first, and `web_server.py` runs the
server.

To add a page, write a function that returns its HTML, as in `security_pages.py`; show lists with `tables.py`; add a
route in `web_server.py`, and a menu entry in `page_frame.py`.
"""
