"""Write the pages of reference that stand in `docs/`.

python -m scripts.reference            write them
python -m scripts.reference --check    exit 1 where one is not what would be written
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scripts.reference import admin_page, errors_page, options_page

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = {"ADMIN.md": admin_page.text, "OPTIONS.md": options_page.text, "ERRORS.md": errors_page.text}


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    stale = [name for name, text in PAGES.items() if not _is_current(name, text())]
    for name in stale:
        if check:
            print(f"docs/{name} is not what would be written: run python -m scripts.reference", file=sys.stderr)
        else:
            (DOCS / name).write_text(PAGES[name](), encoding="utf-8")
    return int(check and bool(stale))


def _is_current(name: str, text: str) -> bool:
    return (DOCS / name).exists() and (DOCS / name).read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
