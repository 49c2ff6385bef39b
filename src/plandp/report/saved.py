"""A picture that is kept in a file as soon as it is drawn."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from plandp.errors import ArgumentError
from plandp.report.picture import svg_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png", ".pdf")


def saved(figure: "Figure", path: str | os.PathLike[str] | None) -> "Figure":
    """Return the figure; with a path, written there too, in the format that its suffix names."""
    if path is None:
        return figure
    if not isinstance(path, str | os.PathLike) or Path(path).suffix.lower() not in SUFFIXES:
        raise ArgumentError(
            "path", f"must end in {', '.join(SUFFIXES)}; or leave it out, and save the figure: plot().savefig(...)"
        )
    if Path(path).suffix.lower() == ".svg":
        Path(path).write_text(svg_text(figure), encoding="utf-8")
    else:
        figure.savefig(path, dpi=200)
    return figure
