"""Text as the receipt and the release print it: aligned columns, safe labels, short numbers."""

import unicodedata
from collections.abc import Sequence
from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction

_PLAIN = Fraction(1, 10**5)  # smaller numbers are written with exponents


def align(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the rows as lines of aligned columns: the first to the left, the others to the right."""
    widths = [max(display_width(row[column]) for row in rows) for column in range(len(rows[0]))]

    def room(cell: str, column: int) -> str:
        return " " * (widths[column] - display_width(cell))

    return [
        "  ".join(
            [
                "",
                row[0] + room(row[0], 0),
                *(room(cell, column) + cell for column, cell in enumerate(row[1:], start=1)),
            ]
        ).rstrip()
        for row in rows
    ]


def display_width(text: str) -> int:
    """Return how many places of a terminal the text takes: East Asian letters two, marks above others none."""
    return len(text) if text.isascii() else sum(map(_places, text))


def _places(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in ("W", "F") else 1


def show_label(label: str | int, *, longest: int = 40) -> str:
    """Return the label on one line, shortened if it takes more places than that."""
    text = str(label)
    text = text if text.isprintable() else ascii(text)
    if display_width(text) <= longest and len(text) <= 2 * longest:
        return text
    text = text[: longest - 1]
    while display_width(text) >= longest:
        text = text[:-1]
    return text + "…"


def show_fraction(value: Fraction, *, digits: int = 6) -> str:
    """Return so many digits, never more than the value: rounded down, with … behind them where others follow."""
    context = Context(prec=digits, rounding=ROUND_DOWN)
    short = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    shown = f"{short.normalize():{'f' if value >= _PLAIN or not value else 'e'}}"
    return shown if Fraction(short) == value else f"{shown}…"


def with_article(name: str) -> str:
    """Return the name of a type or a format as English has it: an int, a float."""
    return f"{'an' if name[:1].lower() in tuple('aeiou') else 'a'} {name}"


def show_given(value: object) -> str:
    """Return the repr of what a caller gave; Python writes no integers of thousands of digits, so of those the type."""
    try:
        return repr(value)
    except ValueError:
        return f"{with_article(type(value).__name__)} of thousands of digits"


def show_integer(value: int) -> str:
    """Return small integers in full and large ones, such as lattice sensitivities, with four digits."""
    if value < 10**7:
        return str(value)
    return f"{value:.4g}" if value < 10**300 else f"more than 1e{int(value.bit_length() * 0.30103) - 1}"
