"""`python -m plandp_lab.accuracy`: the accuracy of plandp.mean, cell by cell, against oracle and prototype."""

import argparse
import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

from tqdm import tqdm

from plandp_lab.cells import REFERENCE_SOURCE, Cell, find_cells
from plandp_lab.measure import OVER_BASELINE, OVER_MEDIAN, OVER_REFERENCE, SMALLEST_SPREAD, Summary, one_run

HEADINGS = (
    "cell",
    "runs",
    "error",
    "worst run / median",
    "oracle",
    "/ oracle",
    "oracle's worst",
    "reference",
    "/ reference",
    "Gaussian",
    "unscaled",
    "/ better",
    "not reached",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the cells asked for and print the table."""
    asked = _parser().parse_args(arguments)
    cells = find_cells(asked.cells)
    if not cells:
        raise SystemExit(f"no cell matches {asked.cells!r}")
    begin = time.perf_counter()
    summaries = measure(cells, runs=2 if asked.quick else asked.runs, steady=not asked.quick, processes=asked.processes)
    print(page(summaries, markdown=asked.markdown))
    print(f"\n{time.perf_counter() - begin:.0f} seconds on {asked.processes} processes.")
    if asked.json is not None:
        asked.json.write_text(json.dumps([asdict(summary) for summary in summaries], indent=1) + "\n")


def measure(cells: Sequence[Cell], *, runs: int, steady: bool, processes: int) -> list[Summary]:
    """Run every cell `runs` times, with `steady` more often where few coordinates carry the error."""
    tasks = [
        (index, run) for index, cell in enumerate(cells) for run in range(runs * (cell.times_runs if steady else 1))
    ]
    errors: list[list[dict[str, float]]] = [[] for _ in cells]
    # one thread each, or the processes would fight over the cores; spawned children read this when NumPy loads
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    with get_context("spawn").Pool(processes) as pool:
        done = pool.imap(_run, ((index, cells[index], run) for index, run in tasks))
        for index, found in tqdm(done, total=len(tasks), unit="run"):
            errors[index].append(found)
    return [Summary.of(cell, found) for cell, found in zip(cells, errors, strict=True)]


def page(summaries: Sequence[Summary], *, markdown: bool) -> str:
    """The table with what one has to know to read it."""
    lines = [_line(summary) for summary in summaries]
    short = [summary for summary in summaries if summary.marks]
    return "\n".join((*_notes(), "", *_table(lines, markdown), "", f"{len(short)} of {len(summaries)} cells marked."))


def _notes() -> Iterator[str]:
    yield "Noise error ‖estimate - empirical mean‖ (l2; l1 where p=1): the median over fresh tables and seeds."
    yield (
        "Public inputs: bounds ±25√d in case A, ±50·d·√(largest σ) elsewhere; "
        f"smallest_spread={SMALLEST_SPREAD:g}.  Every run spends exactly rho."
    )
    yield (
        "Oracle: knows mean and spreads, clips √n rows, spends all of rho on noise; computed in the same runs.  Its "
        "worst run over its median shows how much of ours is plain noise."
    )
    yield f"Reference: {REFERENCE_SOURCE}."
    yield (
        f"Not reached: more than {OVER_REFERENCE} x reference; a run above {OVER_MEDIAN:g} x the median; more than "
        f"{OVER_BASELINE} x the better of the Gaussian mechanism and the unscaled method."
    )


def _line(summary: Summary) -> tuple[str, ...]:
    return (
        summary.label,
        str(summary.runs),
        _figure(summary.plan),
        _ratio(summary.worst),
        _figure(summary.oracle),
        _ratio(summary.to_oracle),
        _ratio(summary.oracle_worst),
        _figure(summary.reference),
        _ratio(summary.to_reference),
        _figure(summary.gaussian),
        _figure(summary.unscaled),
        _ratio(summary.to_baseline),
        ", ".join(summary.marks),
    )


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _table(lines: Iterable[Sequence[str]], markdown: bool) -> Iterator[str]:
    if markdown:
        yield f"| {' | '.join(HEADINGS)} |"
        yield "|" + "---|" * len(HEADINGS)
        yield from (f"| {' | '.join(line)} |" for line in lines)
        return
    everything = [HEADINGS, *lines]
    widths = [max(len(line[column]) for line in everything) for column in range(len(HEADINGS))]
    for line in everything:
        yield "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()


def _run(task: tuple[int, Cell, int]) -> tuple[int, dict[str, float]]:
    index, cell, run = task
    return index, one_run(cell, run)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m plandp_lab.accuracy", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="runs a cell; 3 or 5 times as many where that is stated")
    parser.add_argument("--cells", default="*", help="only cells whose label contains this; * and ? match anything")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--processes", type=int, default=2, help="how many runs at a time")
    parser.add_argument("--markdown", action="store_true", help="print the table as in docs/accuracy.md")
    parser.add_argument("--quick", action="store_true", help="two runs a cell: shows that it works, not how well")
    return parser


if __name__ == "__main__":
    main()
