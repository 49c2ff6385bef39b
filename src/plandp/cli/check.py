"""`plandp check`: what a release would do, before anything is spent."""

import argparse

import plandp
from plandp.cli.answer_output import add_answer_options, show_answer
from plandp.cli.shared_options import add_column_options, add_cost_options, add_method_options, asked_bounds
from plandp.cli.values import read_count, read_number, read_numbers

EXAMPLES = """\
examples:
  plandp check --n 10000 --d 20 --bounds 0:100 --rho 0.5
      20 columns, each between 0 and 100
  plandp check --n 1e4 --bounds age=0:120,income=0:1e6 --error-scale bounds \\
      --epsilon 1 --delta 1e-6
      two columns by name; errors count relative to the width of the bounds
  plandp check --n 500000 --bounds-file bounds.csv --rho 1/8 --spread 2.5 \\
      --plot outlook.svg
      the columns that bounds.csv lists, their spreads publicly known;
      draw the error against rho and n
  plandp check --n 75462 --d 27983 --kind binary --rho 0.5 --error-norm 1
      who bought what: 27,983 items, each there or not
  plandp check --n 10000 --d 20 --bounds 0:100 --rho 0.5 --json
      JSON on standard output and nothing else

No data is read and nothing is spent.  Feasible: centres and spreads will be
found.  The predicted error is a median, for rows that are about Gaussian;
without --spread, spreads of a tenth of the width of the bounds are assumed.
For items and counts, the i-th most popular item is assumed in 1 of 2i rows.

exit codes: 0 done, feasible or not; 1 failed; 2 wrong usage or arguments
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Describe the command to argparse."""
    command = commands.add_parser(
        "check",
        help="say what a release would do, before anything is spent",
        description="Say whether a private mean is feasible, its error, and where its budget will go.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = command.add_argument_group("what is public")
    what.add_argument("--n", required=True, help="the number of rows, such as 10000 or 1e4")
    what.add_argument("--d", help="the number of columns; not needed with bounds for each")
    add_column_options(what)
    add_cost_options(command)
    how = command.add_argument_group("how")
    how.add_argument(
        "--kind", default="real", help="real (the default); binary: items, no bounds needed; nonnegative: counts"
    )
    add_method_options(how)
    add_answer_options(command, answer="check", drawn="error against rho and n")
    command.set_defaults(run=run)


def run(asked: argparse.Namespace) -> None:
    """Print the check; draw it where asked."""
    show_answer(asked, _check)


def _check(asked: argparse.Namespace) -> plandp.Check:
    return plandp.check(
        n=read_count("n", asked.n),
        d=None if asked.d is None else read_count("d", asked.d),
        bounds=asked_bounds(asked),
        rho=asked.rho,
        epsilon=asked.epsilon,
        delta=asked.delta,
        kind=asked.kind,
        method=asked.method,
        error_norm=read_number("error_norm", asked.error_norm),
        error_scale="bounds" if asked.error_scale == "bounds" else _numbers(asked, "error_scale"),
        spread=_numbers(asked, "spread"),
        smallest_spread=_numbers(asked, "smallest_spread"),
    )


def _numbers(asked: argparse.Namespace, name: str) -> object:
    text = getattr(asked, name)
    return None if text is None else read_numbers(name, text)
