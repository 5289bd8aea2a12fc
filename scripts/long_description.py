"""The README as a package index shows it, where links to files of the repository lead nowhere.

`setup.py` reads this file, because the build of a source distribution has nothing but the standard library. The links
of README.md are relative, for the repository and the site. In the long description, they lead to the repository if
``[project.urls]`` in pyproject.toml names it as ``Repository``; otherwise, each is replaced by the path of the file,
which a source distribution contains.
"""

from __future__ import annotations

import re

_LINK = re.compile(r"(!?)\[([^\]]+)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^(```.*?^```\n)", re.MULTILINE | re.DOTALL)
_ELSEWHERE = ("https://", "http://", "mailto:")


def long_description(readme: str, repository: str = "") -> str:
    """Return the text of a README without relative links.

    Arguments:
        readme: the text, in Markdown.
        repository: the address of the repository; empty if it is not known.

    Raises `ValueError` for a relative image, which has no replacement without a repository.
    """

    def replaced(match: re.Match[str]) -> str:
        mark, text, target = match.groups()
        if target.startswith(_ELSEWHERE) or (repository and target.startswith("#")):
            return match[0]
        if repository:
            kind = "raw" if mark else "blob"
            return f"{mark}[{text}]({repository.rstrip('/')}/{kind}/main/{target})"
        if mark:
            raise ValueError(f"README.md has a relative image, which no package index can show: {target}")
        path = target.partition("#")[0]
        if not path:
            return text
        if text in (path, path.rpartition("/")[2]):
            return f"`{path}`"
        return f"{text} (`{path}`)"

    parts = _FENCE.split(readme)  # programs stand at the odd places, and stay as they are
    return "".join(part if index % 2 else _LINK.sub(replaced, part) for index, part in enumerate(parts))
