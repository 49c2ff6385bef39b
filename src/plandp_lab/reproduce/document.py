"""docs/reproduction.md, written from the results."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from plandp_lab.reproduce.cells import Record
from plandp_lab.reproduce.entrants import MEAN_ENTRANTS
from plandp_lab.reproduce.exhibits import Exhibit
from plandp_lab.reproduce.reading import read_results
from plandp_lab.reproduce.results import Results
from plandp_lab.reproduce.run_noise import FAILED
from plandp_lab.reproduce.scale import Scale
from plandp_lab.reproduce.shown import Shown

PICTURES = "pictures/reproduction"  # beside the page


def page(
    exhibits: Iterable[tuple[Exhibit, Shown]], results: Results, *, scale: Scale, command: str, whole: bool
) -> str:
    """The page, with all exhibits or with some, as it then says."""
    shown = list(exhibits)
    asked = [exhibit for exhibit, _ in shown]
    cells = {cell.key for exhibit in asked for cell in exhibit.cells}
    taking_part = {name for exhibit in asked for cell in exhibit.cells for name in cell.entrants}
    who = [f"* **{entrant.name}**: {entrant.meaning}" for entrant in MEAN_ENTRANTS if entrant.name in taking_part]
    held = WHOLE if whole else PART.format(titles="; ".join(exhibit.title for exhibit in asked))
    read = read_results(asked, results)
    parts = [
        "# The paper, reproduced",
        f"<!-- Written by `{command}`: do not edit by hand. -->",
        f"{held} {WRITTEN.format(command=command)}",
        *([HOW_TO_READ, HOW_SURE, "Who takes part:", "\n".join(who)] if who else []),
        _provenance([record for record in results.records if record["cell"] in cells], scale),
        *(["## What it comes to", *read] if read else []),
        *(part for exhibit, one in shown for part in _section(exhibit, one)),
    ]
    return "\n\n".join(parts) + "\n"


PAPER = '"PLAN: Variance-Aware Private Mean Estimation"'
WHOLE = (
    f"Every figure and table of {PAPER}, measured again through `plandp.mean` at honest ρ, beside what the authors "
    "published."
)
PART = (
    f"A part of the figures and tables of {PAPER}, measured again through `plandp.mean` at honest ρ, beside what the "
    "authors published: {titles}."
)
WRITTEN = (
    "This page, its tables, its figures and its verdicts are written by a command, from results alone:\n\n    {command}"
)
HOW_TO_READ = (
    "A *cell* is one kind of table at one budget, such as Gaussian A with d = 64 at ρ = 1; all who take part in it "
    "run on the same tables, one for each run. Lines are medians of the runs, bars quartiles. Marks without a line "
    "are medians that others measured: open as published, half filled of the authors' code run again or of the "
    "paper's text, and the smaller the budget, the smaller the mark. Errors are ℓ2 distances, for 0/1 data half the "
    "ℓ1 distance; to the true mean they hold the sampling error too, to the empirical mean the noise alone, and every "
    "table says which. The oracle and the sampling error are drawn for scale. A claim of the paper is judged for "
    "plandp's default and for Algorithm 1 as the paper states it, against IOME as published where that takes part."
)
HOW_SURE = (
    "What a claim is taken to mean stands behind it in brackets. It is judged by ratios of medians, each of which is "
    "sure up to two standard errors, found by drawing the runs again from the runs (of figures that others measured: "
    "by the spread of our runs and the number of theirs). *Yes*: all ratios that decide are as they must be by more "
    "than that. *NO*: one is not, by more than that. *Undecided*: the runs are too few to tell. Below every table "
    f"stand the standard errors of its medians, and who had runs that failed, with more than {FAILED:g} times the "
    "median error of the cell."
)


def _section(exhibit: Exhibit, shown: Shown) -> list[str]:
    claims = "\n".join(f"* {claim}" for claim in shown.claims)
    picture = f"![{exhibit.title}]({PICTURES}/{exhibit.name}.svg)" if shown.figure is not None else ""
    told = [
        f"## {exhibit.title}",
        f"The paper: {exhibit.place}. `plandp reproduce {exhibit.name}`",
        picture,
        f"Claims:\n\n{claims}" if claims else "",
        *shown.notes,
        *(table.markdown() for table in shown.tables),
    ]
    return [text for text in told if text]


def _provenance(records: Sequence[Record], scale: Scale) -> str:
    runs = f"Scale: {scale.name}, {scale.runs} {'run' if scale.runs == 1 else 'runs'} a cell."
    if not records:
        return f"{runs} Nothing on this page was measured."
    versions = Counter((r["plandp"], r["source"], r["numpy"], r["python"]) for r in records)
    told = "; ".join(
        f"{count:,} results with plandp {plandp} (digest {source}), numpy {numpy}, Python {python}"
        for (plandp, source, numpy, python), count in sorted(versions.items())
    )
    return (
        f"{runs} {told}. A digest is the beginning of SHA-256 over the library's source files, "
        "which tells states of the same version apart; it is no commit."
    )


def write_page(folder: Path, text: str, pictures: dict[str, str]) -> None:
    """Write reproduction.md and its pictures, by file name."""
    (folder / PICTURES).mkdir(parents=True, exist_ok=True)
    for name, svg in pictures.items():
        (folder / PICTURES / name).write_text(svg, encoding="utf-8")
    (folder / "reproduction.md").write_text(text, encoding="utf-8")
