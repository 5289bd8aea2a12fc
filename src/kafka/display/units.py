"""Numbers with their unit, as people read them."""


def size(count: float) -> str:
    """Bytes with their unit."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        digits = 0 if unit == "B" else 1
        if abs(round(count, digits)) < 1024:  # as it is shown: 1,048,575 bytes are 1.0 MiB
            return f"{count:.{digits}f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"
