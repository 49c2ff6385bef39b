"""`python -m plandp_lab.sparse_accuracy`: the accuracy of plandp.mean for items and counts, line by line."""

import argparse
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tqdm import tqdm

from plandp_lab.item_cells import AUTHORS_SOURCE, PROTOTYPE_SOURCE, Subject, find_subjects
from plandp_lab.item_measure import OVER_AUTHORS, OVER_ORACLE, OVER_PROTOTYPE, POPULAR, ItemSummary, measure
from plandp_lab.item_oracle import CLIPPED

HEADINGS = (
    "table",
    "rho",
    "error",
    "shrink",
    "ours",
    "worst run / median",
    "oracle",
    "/ oracle",
    "PLAN-B+",
    "/ PLAN-B+",
    "authors",
    "/ authors",
    "zeros",
    "/ zeros",
    "/ forecast",
    "/ expected, popular",
    "held, popular",
    "not reached",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the tables asked for and print the lines."""
    asked = _parser().parse_args(arguments)
    subjects, skipped = find_subjects(asked.data, asked.tables)
    if not subjects and not skipped:
        raise SystemExit(f"no table has {asked.tables!r} in its name")
    begin = time.perf_counter()
    summaries = [summary for subject in tqdm(subjects, unit="table") for summary in summarise(subject, asked.runs)]
    print(page(summaries, runs=asked.runs))
    print(f"\n{time.perf_counter() - begin:.0f} seconds in one process.")
    print("".join(f"\n{reason}." for reason in skipped), end="\n" if skipped else "")


def summarise(subject: Subject, runs: int) -> list[ItemSummary]:
    """The lines of one subject."""
    by_cell = zip(*measure(subject, runs), strict=True)
    return [ItemSummary.of(subject.name, cell, list(found)) for cell, found in zip(subject.cells, by_cell, strict=True)]


def page(summaries: Sequence[ItemSummary], *, runs: int) -> str:
    """The table with what one has to know to read it."""
    short = sum(bool(summary.marks) for summary in summaries)
    count = f"{short} of {len(summaries)} lines marked."
    return "\n".join((*_notes(runs), "", *_table(map(_line, summaries)), "", count))


def _notes(runs: int) -> Iterator[str]:
    yield (
        f"* Error: ‖estimate - mean‖, l1/2 or l2 (error_norm 1 or 2), the median of {runs} runs; Binary against the "
        "true mean, all others against the empirical one.  Every run spends exactly rho."
    )
    yield (
        "* Oracle: knows every popularity (of counts: the second moment) and stretches by its root, spends all of rho "
        f"on noise of sensitivity √2·radius, clips the best of {CLIPPED[0]} to {CLIPPED[-1]:,} rows, clamps; same runs."
    )
    yield f"* PLAN-B+: {PROTOTYPE_SOURCE}.  Authors: {AUTHORS_SOURCE}.  Zeros: the error of answering 0 everywhere."
    yield (
        f"* What the release states: error over forecast; of the {POPULAR} most popular items error over `error_std`, "
        "root mean square, and how many 95% intervals hold the mean."
    )
    yield (
        f"* Not reached: more than {OVER_PROTOTYPE:g} x PLAN-B+; more than {OVER_AUTHORS:g} x the authors' on the real "
        f"sets; in l2 more than {OVER_ORACLE:g} x the oracle; worse than zeros.  kosarak_first100k, bms_webview1 and "
        "msweb are held to nothing."
    )


def _line(summary: ItemSummary) -> tuple[str, ...]:
    cell = summary.cell
    return (
        summary.name,
        cell.rho,
        "l1/2" if cell.error_norm == 1 else "l2",
        "on" if "shrink" in cell.refine else "off",
        _figure(summary.plan),
        f"{summary.worst:.2f}",
        _figure(summary.oracle),
        f"{summary.to_oracle:.2f}",
        _figure(cell.prototype),
        _ratio(summary.to_prototype),
        _figure(cell.authors),
        _ratio(summary.to_authors),
        _figure(summary.zeros),
        f"{summary.to_zeros:.3f}",
        f"{summary.stated.to_forecast:.2f}",
        f"{math.sqrt(summary.stated.off):.2f}",
        f"{summary.stated.held:.0%}",
        ", ".join(summary.marks),
    )


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _table(lines: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(HEADINGS)} |"
    yield "|" + "---|" * len(HEADINGS)
    yield from (f"| {' | '.join(line)} |" for line in lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m plandp_lab.sparse_accuracy", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", help="where the files of the real sets are; none without")
    parser.add_argument("--runs", type=int, default=10, help="runs a line")
    parser.add_argument("--tables", default="", metavar="PART", help="only tables with this in their name")
    return parser


if __name__ == "__main__":
    main()
