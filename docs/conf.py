"""How Sphinx builds the site from what `scripts.site.sources` writes: `make docs`. The pages fetch nothing.

Colours and widths are in `_static/site.css`.
"""

import json
import os
import sys
from pathlib import Path

os.environ["KAFKA_PURE"] = "1"  # the signatures of the sources
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "src")]

from scripts.site.keywords import KEYWORDS  # noqa: E402

from kafka.version import DISTRIBUTION_VERSION  # noqa: E402

project = "kafka-columnar"
author = "The kafka-columnar developers"
version = release = DISTRIBUTION_VERSION

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "scripts.site.reference_texts",
    "scripts.site.signatures",
]
source_suffix = {".md": "markdown"}
root_doc = "index"
default_role = "name"  # scripts/site/reference_texts.py: a literal, and a link if the site describes the name
nitpicky = False
suppress_warnings = ["ref.python"]  # `type` in a signature is Python's, although some classes have an attribute `type`
smartquotes = False  # a command is copied as it stands: "--follow" stays two hyphens

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

autodoc_typehints = "signature"
autodoc_member_order = "groupwise"
autodoc_preserve_defaults = True
add_module_names = False
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"  # the list of a class's methods is narrow
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"kafka-columnar {release}"
html_copy_source = False
html_static_path = ["_static"]
templates_path = ["_templates"]
html_additional_pages = {"404": "404.html"}
html_css_files = ["site.css", "reference.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_use_index = False
html_show_copyright = False
copybutton_selector = "div:not(.highlight-text, .highlight-default) > div.highlight > pre"  # not what programs print
html_show_sphinx = False
highlight_language = "none"  # blocks without a language are what programs print, and diagrams
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "github-dark"


def leave_options_out(app, what, name, obj, options, lines):
    """End the text of a client before the list of its options, which have a page of their own."""
    if "Options:" in lines and what == "class":
        lines[lines.index("Options:") :] = ["All options: :doc:`/OPTIONS`."]


ATTRIBUTES = ("attribute", "data", "property")


class AttributeTexts:
    """Keeps the texts of attributes from napoleon, which takes what stands before a colon in them for a type."""

    def __init__(self):
        self.text = []

    def keep(self, app, what, name, obj, options, lines):
        """Before napoleon."""
        self.text = list(lines)

    def put_back(self, app, what, name, obj, options, lines):
        """After napoleon."""
        if what in ATTRIBUTES:
            lines[:] = self.text


def order_results(app, pagename, templatename, context, doctree):
    """Give the search page its own order of results, and the search words of the pages."""
    if pagename == "search":
        app.add_js_file(None, body=f"const KEYWORDS = {json.dumps(KEYWORDS)};")
        app.add_js_file("search_order.js", defer="defer")  # after Sphinx's scripts, before they start


def setup(app):
    """Sphinx calls this."""
    app.connect("html-page-context", order_results)
    texts = AttributeTexts()
    app.connect("autodoc-process-docstring", texts.keep, priority=100)
    app.connect("autodoc-process-docstring", texts.put_back, priority=900)
    app.connect("autodoc-process-docstring", leave_options_out, priority=100)  # before napoleon
