"""What an exhibit comes to: tables, verdicts, figures."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plandp.terms.text_table import align

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table with a heading; the first row names the columns."""

    heading: str
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def text(self) -> str:
        """For a terminal."""
        return "\n".join([self.heading, *align([*self.rows]), *([self.note] if self.note else [])])

    def markdown(self) -> str:
        """For a page."""
        head, *body = self.rows
        lines = [head, ("---",) * len(head), *body]
        written = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return f"**{self.heading}**\n\n{written}" + (f"\n\n{self.note}" if self.note else "")


@dataclass(frozen=True, kw_only=True)
class Shown:
    """All of it, ready to be printed, written and drawn."""

    tables: tuple[Table, ...] = ()
    claims: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    figure: "Callable[[], Figure] | None" = None  # drawn only when asked for

    def text(self) -> str:
        """For a terminal."""
        return "\n\n".join(
            [
                *(table.text() for table in self.tables),
                *(["\n".join(self.claims)] if self.claims else []),
                *self.notes,
            ]
        )


def figures(value: float | None, *, mark: str = "") -> str:
    """A number to three figures, or nothing."""
    return "" if value is None else f"{value:.3g}{mark}"
