"""Text as the receipt and the release print it: aligned columns, safe labels, short integers."""

from collections.abc import Sequence


def align(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the rows as lines of aligned columns: the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(["", row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows]


def show_label(label: str | int, *, longest: int = 40) -> str:
    """Return the label on one line, shortened if it is long."""
    text = str(label)
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def show_given(value: object) -> str:
    """Return the repr of what a caller gave; Python writes no integers of thousands of digits, so of those the type."""
    try:
        return repr(value)
    except ValueError:
        return f"a {type(value).__name__} of thousands of digits"


def show_integer(value: int) -> str:
    """Return small integers in full and large ones, such as lattice sensitivities, with four digits."""
    return str(value) if value < 10**7 else f"{value:.4g}"
