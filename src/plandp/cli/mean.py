"""`plandp mean`: the private mean of a table in a file."""

import argparse
import sys
from pathlib import Path

import plandp
from plandp.cli.file_labels import by_label, file_label
from plandp.cli.release_output import add_output_options, show_and_keep
from plandp.cli.shared_options import (
    add_column_options,
    add_cost_options,
    add_ledger_options,
    add_method_options,
    add_refine_option,
    asked_bounds,
    asked_refine,
    asked_rho,
    refuse_no_budget,
)
from plandp.cli.values import read_count, read_number, read_numbers
from plandp.data.files import READERS
from plandp.data.paths import FileNames, find_files, one_suffix

EXAMPLES = """\
examples:
  plandp mean survey.csv --bounds 0:100 --rho 0.5
      every column of the file, each between 0 and 100
  plandp mean survey.csv --bounds age=0:120,income=0:1e6 --error-scale bounds \\
      --epsilon 1 --delta 1e-6
      two columns; errors count relative to the width of the bounds
  plandp mean telemetry.parquet --bounds-file bounds.csv --rho 1/8 \\
      --out release.json --plot means.svg
      the columns that bounds.csv lists (its first line is column,low,high);
      keep the release, draw it
  plandp mean embeddings.npy --bounds -1:1 --rho 0.1 --columns 0,1,2 --json
      columns of an array are called 0, 1, 2, ...;
      JSON on standard output and nothing else
  plandp mean 'telemetry/*.parquet' --bounds 0:1000 --rho 0.1
      many files as one table, however large; a directory works too
  plandp mean baskets.npz --kind binary --rho 0.5 --error-norm 1
      who bought what, a sparse matrix as scipy.sparse.save_npz writes it: the
      share of people who have each item, the most popular ones shown
  plandp mean survey.csv --bounds 0:100 --rho 0.1 --ledger budget.sqlite \\
      --dataset survey-2026
      paid from what is left of a budget; see plandp ledger --help
  plandp mean visits.npz --kind nonnegative --bounds 0:50 --rho 0.5
      how often; more than 50 counts as 50

Bounds are public knowledge, never taken from the data.  One row per person; the
number of rows is published.  Options for columns take one value for all, one
per column (0,1), or values by name (age=0,income=1).

Bounds without names and no --columns: every column is released, and each takes
its part of the budget, an id or a column of text too.  Name those you want.

In CSV and TSV files a cell that is not a number is missing, and so is a whole
row of the wrong length.  Write yes and no as 1 and 0: true and false are not
numbers.

Estimates are not cut off at the bounds, which would bias them: a mean near a
bound may come out beyond it.  Cutting it off afterwards is free.

exit codes: 0 done; 1 failed; 2 wrong usage or arguments (nothing was released);
3 more than the ledger has left (nothing was read); 130 stopped
"""

TEXT_FILES = (".csv", ".tsv")
# The same for every such file: whether a cell was text must not show.
NOTE_ON_TEXT_FILES = """\
In CSV and TSV files every cell that is not a number is missing, text and
  true/false too: write yes and no as 1 and 0, and release no column of text."""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Describe the command to argparse."""
    command = commands.add_parser(
        "mean",
        help="release the mean of the columns of a file",
        description="Release the mean of a table, one row per person, under differential privacy.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "data",
        metavar="FILE",
        type=Path,
        nargs="+",
        help=f"the table: {', '.join(READERS)}; several files of one kind, a directory of them, or a pattern in quotes",
    )
    what = command.add_argument_group("what is public")
    add_column_options(what)
    what.add_argument(
        "--kind",
        default="real",
        help="real (the default); binary: items that are there or not, no bounds needed; nonnegative: counts",
    )
    what.add_argument("--columns", metavar="A,B", help="columns to release; else those that the bounds name, else all")
    numbers = what.add_mutually_exclusive_group()
    numbers.add_argument(
        "--row-index",
        metavar="A",
        help="the column of row numbers 0, 1, ..., not released (default: position)",
    )
    numbers.add_argument(
        "--no-row-index",
        dest="row_index",
        action="store_const",
        const=False,
        help="rows have no numbers, as in a table sorted by values: every step reads all of them",
    )
    what.add_argument(
        "--missing", metavar="VALUE", help="what a missing value counts as (default: the released centre)"
    )
    add_cost_options(command)
    add_ledger_options(command)
    how = command.add_argument_group("how")
    add_method_options(how)
    add_refine_option(how)
    how.add_argument("--sampler", default="exact", help="exact (the default) or opendp")
    how.add_argument("--threads", default="1", metavar="N", help="threads that add up rows, 1 to 64 (default: 1)")
    add_output_options(command)
    command.set_defaults(run=run)


def run(asked: argparse.Namespace) -> None:
    """Release the mean, show it and keep it."""
    show_and_keep(asked, _release, notes=_notes(_files(asked)))


def _files(asked: argparse.Namespace) -> FileNames:
    files: list[Path] = asked.data
    return files[0] if len(files) == 1 else files


def _release(asked: argparse.Namespace) -> plandp.MeanRelease:
    refuse_no_budget(asked)
    files = _files(asked)
    bounds = by_label(asked_bounds(asked), files)
    columns = None if asked.columns is None else [file_label(name, files) for name in asked.columns.split(",")]
    if isinstance(bounds, dict):
        if columns is None:
            columns = list(bounds)
        bounds = {label: pair for label, pair in bounds.items() if label in columns}
    return plandp.mean(
        files,
        bounds=bounds,
        rho=asked_rho(asked),
        epsilon=asked.epsilon,
        delta=asked.delta,
        kind=asked.kind,
        columns=columns,
        row_index=file_label(asked.row_index, files) if isinstance(asked.row_index, str) else asked.row_index,
        missing=_numbers(asked, "missing"),
        error_norm=read_number("error_norm", asked.error_norm),
        error_scale="bounds" if asked.error_scale == "bounds" else _numbers(asked, "error_scale"),
        spread=_numbers(asked, "spread"),
        smallest_spread=_numbers(asked, "smallest_spread"),
        method=asked.method,
        refine=asked_refine(asked),
        sampler=asked.sampler,
        ledger=asked.ledger,
        dataset=asked.dataset,
        progress=sys.stderr.isatty() if asked.progress is None else asked.progress,
        threads=read_count("threads", asked.threads),
    )


def _notes(files: FileNames) -> tuple[str, ...]:
    try:
        suffix = one_suffix(find_files(files))
    except plandp.ArgumentError:  # said again when they are opened
        return ()
    return (NOTE_ON_TEXT_FILES,) if suffix in TEXT_FILES else ()


def _numbers(asked: argparse.Namespace, name: str) -> object:
    text = getattr(asked, name)
    return None if text is None else by_label(read_numbers(name, text), _files(asked))
