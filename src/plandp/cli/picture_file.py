"""Pictures as files."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from plandp.errors import ArgumentError, MissingExtra
from plandp.report.picture import svg_text
from plandp.report.saved import SUFFIXES
from plandp.terms.check import Check
from plandp.terms.comparison import Comparison
from plandp.terms.release import MeanRelease

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def check_picture(path: Path) -> None:
    """Refuse what cannot be drawn, before anything is spent."""
    if path.suffix.lower() not in SUFFIXES:
        raise ArgumentError("plot", f"the file must end in {', '.join(SUFFIXES)}")
    try:
        import matplotlib.figure  # noqa: F401  # only whether it is there
    except ImportError:
        raise MissingExtra("matplotlib", "plot", "drawing") from None


def draw(shown: MeanRelease | Check | Comparison, path: Path, write: Callable[[bytes], None]) -> None:
    """Write the picture of a release or an answer in the format that the suffix of `path` names."""
    write_picture(shown.plot(), path, write)


def write_picture(figure: "Figure", path: Path, write: Callable[[bytes], None]) -> None:
    """Write a picture in the format that the suffix of `path` names."""
    if path.suffix.lower() == ".svg":
        write(svg_text(figure).encode())
        return
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lower().removeprefix("."), dpi=200)
    write(buffer.getvalue())
