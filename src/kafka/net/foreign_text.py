"""Text that somebody else has sent, for our errors and logs."""


def shown_text(text: str, limit: int = 300) -> str:
    """The text without what moves a terminal's cursor, begins a line of a log or cannot be printed, cut short."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text[:limit])
