"""Keys and values as text for a terminal: UTF-8 as it is, without control characters; other bytes as a hex dump.

`payload_text` bounds the length, because a record may contain megabytes.
"""

from kafka.cli.escapes import without_controls

_PER_LINE = 16


def payload_text(content: bytes | None, as_hex: bool = False, most: int = 1_000) -> str:
    """Return bytes for display.

    Arguments:
        content: the bytes; None for null.
        as_hex: whether to show text as hexadecimal bytes, too.
        most: maximum number of bytes to show.
    """
    if content is None:
        return "null"
    shown = content[:most]
    rest = f" ... ({len(content):,} bytes)" if len(content) > most else ""
    if not as_hex:
        text = _as_text(shown, is_cut=bool(rest))
        if text is not None:
            return (without_controls(text) or '""') + rest
    return "\n".join(hex_lines(shown)) + (f"\n{rest.strip()}" if rest else "")


def _as_text(content: bytes, is_cut: bool) -> str | None:
    """Decode UTF-8; None for other bytes. The end of a text that was cut off may be in the middle of a character."""
    for end in range(len(content), max(len(content) - 4, -1) if is_cut else len(content) - 1, -1):
        try:
            text = content[:end].decode()
        except UnicodeDecodeError:
            continue
        return None if "\0" in text else text
    return None


def hex_lines(content: bytes) -> list[str]:
    """Return a hex dump: offset, bytes, and printable ASCII characters, 16 bytes a line."""
    lines = []
    for at in range(0, len(content), _PER_LINE):
        part = content[at : at + _PER_LINE]
        ascii_text = "".join(chr(each) if 32 <= each < 127 else "." for each in part)
        lines.append(f"{at:06x}  {part.hex(' '):<{3 * _PER_LINE - 1}}  {ascii_text}")
    return lines or ["(empty)"]


def indented(text: str, blanks: int) -> str:
    """Indent all lines but the first one."""
    return text.replace("\n", "\n" + " " * blanks)
