"""How Sphinx builds the site: `make docs`. Everything that it shows lies in the tree; nothing is fetched."""

import os
import sys
from pathlib import Path

os.environ["KAFKA_PURE"] = "1"  # the signatures of the sources
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "src")]

from scripts.reference.names_pages import pages  # noqa: E402

from kafka.version import DISTRIBUTION_VERSION  # noqa: E402

project = "kafka-columnar"
author = "The kafka-columnar developers"
version = release = DISTRIBUTION_VERSION

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["conf.py"]
root_doc = "index"
default_role = "literal"
nitpicky = False
smartquotes = False  # a command is copied as it stands: "--follow" stays two hyphens

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

autodoc_typehints = "signature"
autodoc_member_order = "groupwise"
autodoc_preserve_defaults = True
add_module_names = False
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"kafka-columnar {release}"
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "monokai"


def write_names(app):
    """Write the pages of public names beside the others; git ignores them."""
    folder = HERE / "names"
    folder.mkdir(exist_ok=True)
    wanted = pages()
    for file in folder.iterdir():
        if file.name not in wanted:
            file.unlink()
    for name, text in wanted.items():
        file = folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def leave_options_out(app, what, name, obj, options, lines):
    """End the text of a client before the list of its options, which have a page of their own."""
    if "Options:" in lines and what == "class":
        lines[lines.index("Options:") :] = ["All options: OPTIONS.md, under Reference."]


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


def setup(app):
    """Sphinx calls this."""
    texts = AttributeTexts()
    app.connect("autodoc-process-docstring", texts.keep, priority=100)
    app.connect("autodoc-process-docstring", texts.put_back, priority=900)
    app.connect("autodoc-process-docstring", leave_options_out, priority=100)  # before napoleon
    app.connect("builder-inited", write_names)
