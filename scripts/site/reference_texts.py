"""A Sphinx extension: how docstrings and signatures become the text of the reference.

Names in single backquotes become links to what they name: a member of the same class, a public class or function, or
an error, whose row in the tables of errors gets an anchor. Names of guides, such as `docs/GROUPS.md`, become links.
"Returns", "Raises" and "Requires" at the start of a paragraph are bold. `docs/conf.py` loads it.
"""

from __future__ import annotations

import builtins
import enum
import functools
import re
import typing
from collections.abc import Callable, Mapping
from typing import Any

from docutils import nodes
from docutils.parsers.rst.states import Inliner
from scripts.reference import subjects, types_page
from scripts.reference.signatures import constructor_text, readable, with_errors_in_a_paragraph
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import inspect as sphinx_inspect
from sphinx.util.nodes import make_refnode

ATTRIBUTES = ("attribute", "data", "property")
_LEAD = re.compile(r"^(Returns|Raises|Yields|Requires|Like Java's)\b(?!:)", re.ASCII)
_SIGNATURE_TYPES = {path for paths in subjects.SIGNATURE_TYPES.values() for path in paths}
_NAME = re.compile(r"[A-Za-z_][\w.]*(\(\))?")


def add_constructors(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Add the arguments of a constructor to the text of its class, if the constructor has a text of its own."""
    if what in ("class", "exception") and isinstance(obj, type) and name not in subjects.RESULT_PATHS:
        lines += constructor_text(obj)


def join_errors(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Give all texts about errors the same form."""
    lines[:] = with_errors_in_a_paragraph(lines)


def mark_leads(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Make the words bold with which paragraphs about results, errors and requirements start."""
    for number, line in enumerate(lines):
        if number == 0 or not lines[number - 1].strip():
            lines[number] = _LEAD.sub(r"**\1**", line) if number else line


def link_guides(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Make links of the names of guides."""
    for number, line in enumerate(lines):
        lines[number] = re.sub(r"`{0,2}docs/([A-Z_]+|recipes/[\w-]+)\.md`{0,2}", r":doc:`/\1`", line)


def shorten_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None] | None:
    """Leave out what a signature does not tell: the value of an enumeration, and options, which have their table.

    Numbers that the compiled modules declare as C types are `int` and `bool` to programs. A method that
    declares its forms as overloads has the signature of the first one; its text names the others.
    """
    if what == "class" and isinstance(obj, type):
        if issubclass(obj, enum.Enum) or getattr(obj, "_is_protocol", False) or name in subjects.RESULT_PATHS:
            return "", None
        if signature and signature.count("<factory>") > 1 and obj.__module__.startswith("kafka.config"):
            return "(**options)", None
    if not signature:
        return None
    if what == "method" and (forms := typing.get_overloads(obj)):
        return readable(overload_signature(forms[0])), None
    return readable(signature), readable(returned) if returned else returned


def overload_signature(form: Callable[..., Any]) -> str:
    """A form of a method that is declared as an overload, without `self`."""
    signature = sphinx_inspect.signature(form, bound_method=True)
    return str(sphinx_inspect.stringify_signature(signature, unqualified_typehints=True))


def leave_general_forms_out(app: Sphinx, doctree: nodes.document) -> None:
    """Of several signatures of a class, leave out those that take any arguments: type checkers alone need them."""
    for described in doctree.findall(addnodes.desc):
        signatures = [each for each in described.children if isinstance(each, addnodes.desc_signature)]
        for each in signatures[1:]:
            if "**named" in each.astext():
                described.remove(each)


def name_role(
    role: str, raw: str, text: str, line: int, inliner: Inliner, options: Any = None, content: Any = None
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """A name in single backquotes: a literal, which `link_names` makes a link if the site describes the name."""
    env = inliner.document.settings.env
    node = nodes.literal(raw, text)
    if _NAME.fullmatch(text):
        node["named"] = text.removesuffix("()")
        node["within"] = ".".join(
            part for part in (env.ref_context.get("py:module"), env.ref_context.get("py:class")) if part
        )
    return [node], []


def anchor_errors(app: Sphinx, doctree: nodes.document) -> None:
    """Give the rows of the tables of errors anchors, so that names of errors can lead to them."""
    if not app.env.docname.startswith("ERRORS/"):
        return
    for row in doctree.findall(nodes.row):
        names = [each.astext() for each in row.findall(nodes.literal)][:1]
        if names and re.fullmatch(r"[A-Z]\w+", names[0]) and not any("head" in type(up).__name__ for up in _above(row)):
            row["ids"].append(names[0])
            errors_of(app)[names[0]] = app.env.docname


def _above(node: nodes.Node) -> list[nodes.Node]:
    return [node.parent, *_above(node.parent)] if node.parent is not None else []


def errors_of(app: Sphinx) -> dict[str, str]:
    """The pages of errors by their names; kept with the environment, as pages may be read by several processes."""
    if not hasattr(app.env, "kafka_errors"):
        app.env.kafka_errors = {}
    found: dict[str, str] = app.env.kafka_errors
    return found


def shorten_contents(app: Sphinx, doctree: nodes.document) -> None:
    """List methods in a page's contents, but neither attributes nor a class below the heading with its name."""
    for each in doctree.findall(addnodes.desc):
        titled = isinstance(each.parent, nodes.section) and each.parent.next_node(nodes.title)
        named = each.next_node(addnodes.desc_name)
        is_titled = titled and named and titled.astext() == named.astext()
        if is_titled or each.get("objtype") in ATTRIBUTES or each.get("objtype") == "property":
            each["no-contents-entry"] = True


def unlink_builtins(app: Sphinx, doctree: nodes.document) -> None:
    """Leave Python's own types in signatures as text; Sphinx would link `type` to an attribute with that name."""
    for link in list(doctree.findall(addnodes.pending_xref)):
        if link.get("refdomain") == "py" and link.get("reftarget") in vars(builtins):
            link.replace_self(nodes.Text(link["reftarget"]))


def use_colons(app: Sphinx, doctree: nodes.document) -> None:
    """Separate arguments, attributes and errors from their texts by a colon; napoleon writes two hyphens."""
    for field in doctree.findall(nodes.field):
        for text in list(field.findall(nodes.Text)):
            if text.startswith((" -- ", ") -- ")):
                text.parent.replace(text, nodes.Text(text.replace(" -- ", ": ", 1)))


def leave_aliases_out(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out fields that the class describes: those of named tuples without a text, and those that hold a class."""
    is_other_class = what == "class" and isinstance(obj, type) and "." not in obj.__qualname__
    is_alias = (getattr(obj, "__doc__", None) or "").startswith("Alias for field number")
    return True if is_other_class or is_alias else None


def merge_errors(app: Sphinx, env: Any, docnames: set[str], other: Any) -> None:
    """Take the errors that another process has found."""
    errors_of(app).update(getattr(other, "kafka_errors", {}))


def link_names(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make links of names that the site describes."""
    objects = app.env.get_domain("py").objects
    public = public_by_name(objects)
    for literal in list(doctree.findall(nodes.literal)):
        if "named" not in literal or any(isinstance(up, nodes.reference) for up in _above(literal)):
            continue
        name, within = literal["named"], literal["within"]
        if found := resolve(name, within, objects, public):
            target = objects[found]
            if target.docname == docname and found == within:
                continue
            page, anchor = target.docname, target.node_id
        elif name in errors_of(app):
            page, anchor = errors_of(app)[name], name
        else:
            continue
        link = make_refnode(app.builder, docname, page, anchor, literal.deepcopy())
        literal.replace_self(link)


def link_types(app: Sphinx, env: Any, node: addnodes.pending_xref, shown: nodes.Element) -> nodes.Node | None:
    """A link for a type in a signature that Sphinx does not find: a type with an entry of its own, or an error."""
    if node.get("refdomain") != "py":
        return None
    home, _, name = node["reftarget"].rpartition(".")
    if (home and not home.startswith("kafka")) or name in types_page.FOREIGN:
        return None
    objects = env.get_domain("py").objects
    path = types_page.path_of(name, node.get("py:module") or "") or public_names_of(app).get(name)
    if path in objects:
        return make_refnode(app.builder, node["refdoc"], objects[path].docname, objects[path].node_id, shown)
    if name in errors_of(app):
        return make_refnode(app.builder, node["refdoc"], errors_of(app)[name], name, shown)
    return None


@functools.cache
def public_names_of(app: Sphinx) -> dict[str, str]:
    """See `public_by_name`; asked for once all pages have been read."""
    return public_by_name(app.env.get_domain("py").objects)


def public_by_name(objects: Mapping[str, Any]) -> dict[str, str]:
    """The full names of classes, functions and types by their last parts, if these are unique.

    What a module offers comes before a type that only signatures name.
    """
    found: dict[str, list[str]] = {}
    for full in sorted(objects, key=_SIGNATURE_TYPES.__contains__):
        entry, name = objects[full], full.rpartition(".")[2]
        is_shadowed = full in _SIGNATURE_TYPES and name in found
        if not entry.aliased and entry.objtype in ("class", "function", "exception", "type") and not is_shadowed:
            found.setdefault(name, []).append(full)
    return {name: full[0] for name, full in found.items() if len(full) == 1 or full[0].count(".") == 1}


def resolve(name: str, within: str, objects: Mapping[str, Any], public: Mapping[str, str]) -> str | None:
    """The full name of what a name means in the text of a class: a member, a public name, or a member of one."""
    if f"{within}.{name}" in objects:
        return f"{within}.{name}"
    if name in objects:
        return name
    first, _, member = name.partition(".")
    if first in public:
        full = f"{public[first]}.{member}" if member else public[first]
        return full if full in objects else None
    return None


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx calls this."""
    app.add_role("name", name_role)
    app.connect("autodoc-process-docstring", add_constructors, priority=80)
    app.connect("autodoc-process-docstring", join_errors, priority=85)
    app.connect("autodoc-process-docstring", mark_leads, priority=90)
    app.connect("autodoc-process-docstring", link_guides, priority=90)
    app.connect("autodoc-process-signature", shorten_signature)
    app.connect("autodoc-skip-member", leave_aliases_out)
    app.connect("doctree-read", anchor_errors)
    app.connect("doctree-read", unlink_builtins)
    app.connect("doctree-read", use_colons)
    app.connect("doctree-read", leave_general_forms_out)
    app.connect("doctree-read", shorten_contents, priority=100)  # before Sphinx makes the contents
    app.connect("env-merge-info", merge_errors)
    app.connect("missing-reference", link_types)
    app.connect("doctree-resolved", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
