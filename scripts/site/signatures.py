"""A Sphinx extension: how the signatures of the reference are written and where they wrap.

Sphinx writes a signature as one line, or as a list with an element for each parameter, whatever the width of the
window. Here, each parameter is a span. Signatures that do not fit a line have a class, for which
`docs/_static/reference.css` gives each parameter a line of its own: on every screen, or on phones only. Long values of
attributes are left out.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from scripts.reference.signatures import is_long_value, wrapping
from sphinx import addnodes
from sphinx.application import Sphinx


def shorten_values(app: Sphinx, doctree: nodes.document) -> None:
    """Leave out long values of attributes, such as that of `DEFAULT_CONFIG`, which fills a screen.

    The definition of a type stays: its text is longer than what is shown, as each name is there in two forms.
    """
    for annotation in list(doctree.findall(addnodes.desc_annotation)):
        is_type = annotation.parent.parent.get("objtype") == "type"
        if not is_type and is_long_value(annotation.astext()):
            annotation.parent.remove(annotation)


def mark_lengths(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give signatures that wrap their class."""
    for signature in doctree.findall(addnodes.desc_signature):
        if found := wraps(signature):
            signature["classes"].append(found)


def wraps(signature: addnodes.desc_signature) -> str:
    """The class of a signature by its length: "wraps", "wraps-on-phones", or none. Without parameters, it has none."""
    if not any(list(each) for each in signature.findall(addnodes.desc_parameterlist)):
        return ""
    length = len(signature.astext())
    return wrapping(length, length - sum(len(each.astext()) for each in signature.findall(addnodes.desc_addname)))


def visit_parameters(writer: Any, node: nodes.Element) -> None:
    """Write the beginning of a list of parameters."""
    writer.body.append('<span class="sig-paren">(</span>')


def depart_parameters(writer: Any, node: nodes.Element) -> None:
    """Write the end of a list of parameters."""
    writer.body.append(f'{"<span class=sig-end>" if is_followed(node) else ""}<span class="sig-paren">)</span>')


def is_followed(node: nodes.Element) -> bool:
    """Whether the type of the result follows a list of parameters; it then wraps together with the parenthesis."""
    return isinstance(node.next_node(siblings=True, descend=False), addnodes.desc_returns)


def visit_returned(writer: Any, node: nodes.Element) -> None:
    """Write the beginning of the type of a result."""
    writer.body.append(' <span class="sig-return"><span class="sig-return-icon">&#x2192;</span> ')
    writer.body.append('<span class="sig-return-typehint">')


def depart_returned(writer: Any, node: nodes.Element) -> None:
    """Write the end of the type of a result, and of what `depart_parameters` has begun."""
    follows = any(isinstance(each, addnodes.desc_parameterlist) for each in node.parent.children)
    writer.body.append("</span></span>" + ("</span>" if follows else ""))


def visit_parameter(writer: Any, node: nodes.Element) -> None:
    """Write the beginning of a parameter."""
    writer.body.append('<span class="sig-line"><em class="sig-param">')


def depart_parameter(writer: Any, node: nodes.Element) -> None:
    """Write the end of a parameter, with a comma if another one follows."""
    is_last = node.parent.index(node) == len(node.parent) - 1
    writer.body.append("</em></span>" if is_last else "</em>, </span>")


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx calls this."""
    app.add_node(addnodes.desc_parameterlist, override=True, html=(visit_parameters, depart_parameters))
    app.add_node(addnodes.desc_parameter, override=True, html=(visit_parameter, depart_parameter))
    app.add_node(addnodes.desc_returns, override=True, html=(visit_returned, depart_returned))
    app.connect("doctree-read", shorten_values)
    app.connect("doctree-resolved", mark_lengths)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
