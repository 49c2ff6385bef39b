"""docs/reproduction.md, written from the results."""

from collections.abc import Iterable
from pathlib import Path

from plandp_lab.reproduce.entrants import MEAN_ENTRANTS
from plandp_lab.reproduce.exhibits import Exhibit
from plandp_lab.reproduce.reading import read_results
from plandp_lab.reproduce.results import Results
from plandp_lab.reproduce.scale import Scale
from plandp_lab.reproduce.shown import Shown

PICTURES = "pictures/reproduction"  # beside the page


def page(exhibits: Iterable[tuple[Exhibit, Shown]], results: Results, *, scale: Scale, command: str) -> str:
    """The whole page."""
    shown = list(exhibits)
    parts = [
        "# The paper, reproduced",
        f"<!-- Written by `{command}`: do not edit by hand. -->",
        INTRODUCTION.format(command=command),
        "\n".join(f"* **{entrant.name}**: {entrant.meaning}" for entrant in MEAN_ENTRANTS),
        _provenance(results, scale),
        *(["## What it comes to", *read] if (read := read_results([exhibit for exhibit, _ in shown], results)) else []),
        *(part for exhibit, one in shown for part in _section(exhibit, one)),
    ]
    return "\n\n".join(parts) + "\n"


INTRODUCTION = (
    'Every figure and table of "PLAN: Variance-Aware Private Mean Estimation", measured again through `plandp.mean` at '
    "honest ρ, beside what the authors published. This page, its tables, its figures and its verdicts are written by a "
    "command, from results alone:\n\n    {command}\n\n"
    "Lines are medians, bars quartiles. Marks without filling are medians that others measured: published by the "
    "authors, or their code run again (said below each table). A claim of the paper is judged for plandp's default and "
    "for Algorithm 1 as the paper states it, against IOME as published where that takes part. Errors are ℓ2, for 0/1 "
    "data ℓ1/2; to the true mean they hold the sampling "
    "error too, to the empirical mean the noise alone. The oracle and the sampling error are drawn for scale. Who "
    "takes part:"
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


def _provenance(results: Results, scale: Scale) -> str:
    versions = sorted({(r["plandp"], r["source"], r["numpy"], r["python"]) for r in results.records})
    told = "; ".join(
        f"plandp {plandp} (source {source}), numpy {numpy}, Python {python}"
        for plandp, source, numpy, python in versions
    )
    mixed = " More than one state of the source took part." if len(results.sources()) > 1 else ""
    return f"Scale: {scale.name}, {scale.runs} runs a cell. Measured with {told or 'nothing yet'}.{mixed}"


def write_page(folder: Path, text: str, pictures: dict[str, str]) -> None:
    """Write reproduction.md and its pictures, by file name."""
    (folder / PICTURES).mkdir(parents=True, exist_ok=True)
    for name, svg in pictures.items():
        (folder / PICTURES / name).write_text(svg, encoding="utf-8")
    (folder / "reproduction.md").write_text(text, encoding="utf-8")
