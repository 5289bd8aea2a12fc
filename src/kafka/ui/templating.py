"""Fills the templates in `templates/`, which are larger pieces of HTML such as the frame of a page and a table.

Jinja escapes all values except `Html`, with `kafka.display.html_tables.escaped`, so that invisible characters are shown
here too. Small pieces of HTML are made with `kafka.display.page_elements.html` instead.
"""

import functools
import pathlib
from typing import Any

import jinja2

from kafka.display.html_tables import escaped
from kafka.display.page_elements import Html, address, count, sent_back

_FOLDER = pathlib.Path(__file__).parent / "templates"


@functools.cache
def _environment() -> jinja2.Environment:
    """Return the environment, which keeps the compiled templates. An undefined name in a template is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        finalize=_final,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(count=count, sent_back=sent_back)
    made.globals.update(address=address)
    return made


def _final(value: Any) -> Any:
    """Escape a value that is not HTML yet. Macros return HTML in a class of Jinja's."""
    return value if hasattr(value, "__html__") else escaped(value)


def render(name: str, **values: Any) -> Html:
    """Fill a template.

    Arguments:
        name: the file's name in `templates/`, without ".jinja".
        values: the names that the template uses.
    """
    return Html(_environment().get_template(f"{name}.jinja").render(values))
