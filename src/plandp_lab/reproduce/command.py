"""`plandp reproduce`: measure what is missing, print tables and verdicts, and write results, figures and the page."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from plandp.errors import ArgumentError, MissingExtra
from plandp.report.picture import svg_text
from plandp_lab.reproduce.document import PICTURES, page, write_page
from plandp_lab.reproduce.exhibits import Exhibit, all_exhibits, chosen
from plandp_lab.reproduce.journal import Journal
from plandp_lab.reproduce.results import Results, write_results
from plandp_lab.reproduce.runner import run_all, tasks_left
from plandp_lab.reproduce.scale import FULL, QUICK, Scale
from plandp_lab.reproduce.shown import Shown

JOURNAL = "runs.journal"


def list_exhibits(data: Path | None, tell: Callable[[str], None]) -> None:
    """Tell every name, and where it stands in the paper."""
    for exhibit in all_exhibits(FULL, data):
        tell(f"{exhibit.name:20} {exhibit.title} ({exhibit.place})")


def chosen_scale(*, quick: bool, runs: int | None) -> Scale:
    """The paper's settings, or a little of everything; with another number of runs where one is given."""
    scale = QUICK if quick else FULL
    if runs is None:
        return scale
    if runs < 1:
        raise ArgumentError("runs", "must be 1 or more")
    fewer = {name: min(runs, getattr(scale, name)) for name in ("real_runs", "real_iome_runs", "variance_runs")}
    return replace(scale, runs=runs, **fewer)


def reproduce(
    names: str,
    *,
    scale: Scale,
    data: Path | None,
    out: Path,
    processes: int,
    tell: Callable[[str], None],
    docs: Path | None = None,
    command: str = "plandp reproduce",
) -> None:
    """Measure, or go on measuring, in the folder `out`, and show what is asked for.

    Interrupted, it keeps every finished run; called again, it goes on from there.
    """
    _check_extras()
    if processes < 1:
        raise ArgumentError("processes", "must be 1 or more")
    for argument, folder in (("data", data), ("write_docs", docs)):
        if folder is not None and not folder.is_dir():
            raise ArgumentError(argument, f"{str(folder)!r} is not a directory")
    everything = all_exhibits(scale, data)
    exhibits = chosen(everything, names)
    whole = len(exhibits) == len(everything)
    if docs is not None and not whole:
        raise ArgumentError("write_docs", "goes with all only: the page there would be replaced by a part of it")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise ArgumentError("out", f"{str(out)!r} is not a directory and cannot be made one") from None
    journal = Journal(out / JOURNAL)
    kept = journal.read()
    if kept.damaged:
        tell(f"{kept.damaged} damaged lines in {JOURNAL} are left out; what they held is measured again\n")
    tasks = tasks_left((cell for exhibit in exhibits for cell in exhibit.cells), kept.records)
    try:
        run_all(tasks, journal, processes=processes)
    except KeyboardInterrupt:
        print(f"finished runs are kept in {out}; the same command goes on from there", file=sys.stderr)
        raise
    finally:
        records = journal.read().records
        write_results(records, out)
    results = Results(records)
    shown = [(exhibit, exhibit.show(results)) for exhibit in exhibits]
    for exhibit, one in shown:
        tell(f"== {exhibit.name}: {exhibit.title} ({exhibit.place})\n\n{one.text()}\n")
    pictures = _pictures(shown, out)
    text = page(shown, results, scale=scale, command=command, whole=whole)
    write_page(out, text, pictures)
    if docs is not None:
        write_page(docs, text, pictures)
    held = "all of them" if whole else "those asked for"
    tell(f"results, figures and reproduction.md, with {held}, are in {out}")


def _pictures(shown: list[tuple[Exhibit, Shown]], out: Path) -> dict[str, str]:
    """Every figure as SVG, by file name; in the folder `out` as PNG too."""
    (out / PICTURES).mkdir(parents=True, exist_ok=True)
    pictures = {}
    for exhibit, one in shown:
        if one.figure is not None:
            figure = one.figure()
            figure.savefig(out / PICTURES / f"{exhibit.name}.png", dpi=150)
            pictures[f"{exhibit.name}.svg"] = svg_text(figure)
    return pictures


def _check_extras() -> None:
    """Before anything is measured."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingExtra("matplotlib", "plot", "drawing the paper's figures") from None
    try:
        import pyarrow  # type: ignore[import-untyped] # noqa: F401
    except ImportError:
        raise MissingExtra("pyarrow", "arrow", "writing Parquet") from None
