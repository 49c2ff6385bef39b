"""`plandp compare`: which method to use, from public numbers, and from runs on data that is declared public."""

import argparse
import sys
from pathlib import Path

import plandp
from plandp.cli.answer_output import add_answer_options, show_answer
from plandp.cli.file_labels import by_label
from plandp.cli.shared_options import add_column_options, add_cost_options, asked_bounds
from plandp.cli.values import read_count, read_number, read_numbers

EXAMPLES = """\
examples:
  plandp compare --n 10000 --d 100 --bounds 0:100 --rho 0.1
      spreads of a tenth of the width of the bounds are assumed
  plandp compare --n 1e4 --d 512 --bounds -5:5 --rho 0.1 --spread-shape zipf:2 \\
      --plot methods.svg
      variances that fall as 1/i^2 from column to column; draw the errors
  plandp compare --n 5000 --bounds age=0:120,income=0:1e6 --error-scale bounds \\
      --epsilon 1 --delta 1e-6 --spread-shape age=20,income=3e4
      spreads as they may be; no method is told them (--spread tells them)
  plandp compare --public-data census.csv --bounds-file bounds.csv --rho 0.1
      run every method 10 times on a table that EVERYBODY MAY SEE, and the means
      of diffprivlib and OpenDP where they are installed
  plandp compare --n 75462 --d 27983 --kind binary --rho 0.5 --error-norm 1
      who bought what: the methods that know items
  plandp compare --n 10000 --d 100 --bounds 0:100 --rho 0.1 --json
      JSON on standard output and nothing else

Without --public-data no data is read and nothing is spent.  The predicted error
is a median, for rows that are about Gaussian, or items that are independent.

With --public-data NOTHING IS PRIVATE: what is printed are exact distances to the
true mean.  Name synthetic or published data, never the table that is to be
released: not even the choice of a method may depend on that.

exit codes: 0 done; 1 failed; 2 wrong usage or arguments; 130 stopped
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Describe the command to argparse."""
    command = commands.add_parser(
        "compare",
        help="say which method to use, before anything is spent",
        description="Compare methods by the errors to expect, and by runs on data that is declared public.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = command.add_argument_group("what is public")
    what.add_argument("--n", help="the number of rows, such as 10000 or 1e4; not with --public-data")
    what.add_argument("--d", help="the number of columns; not needed with bounds for each, nor with --public-data")
    add_column_options(what)
    what.add_argument(
        "--spread-shape",
        metavar="SHAPE",
        help="spreads to assume: equal (the default), zipf:ALPHA, one-large, or numbers as for --spread",
    )
    what.add_argument(
        "--public-data",
        metavar="FILE",
        type=Path,
        help="run the methods on this table, which everybody may see; NOT PRIVATE",
    )
    add_cost_options(command)
    how = command.add_argument_group("how")
    how.add_argument("--kind", default="real", help="real (the default); binary: items, no bounds needed")
    how.add_argument("--error-norm", metavar="P", default="2", help="compare l_P errors (default: 2)")
    how.add_argument(
        "--error-scale", metavar="VALUE", help="units in which errors count: bounds, or numbers (default: 1)"
    )
    how.add_argument("--methods", metavar="A,B", help="methods to compare (default: all)")
    how.add_argument("--runs", help="how often each method is run on public data (default: 10)")
    add_answer_options(command, answer="comparison", drawn="the errors")
    command.set_defaults(run=run)


def run(asked: argparse.Namespace) -> None:
    """Print the comparison; draw it where asked."""
    show_answer(asked, _compare)


def _compare(asked: argparse.Namespace) -> plandp.Comparison:
    return plandp.compare(
        n=None if asked.n is None else read_count("n", asked.n),
        d=None if asked.d is None else read_count("d", asked.d),
        bounds=_of_file(asked_bounds(asked), asked),
        rho=asked.rho,
        epsilon=asked.epsilon,
        delta=asked.delta,
        kind=asked.kind,
        error_norm=read_number("error_norm", asked.error_norm),
        error_scale="bounds" if asked.error_scale == "bounds" else _numbers(asked, "error_scale"),
        spread=_numbers(asked, "spread"),
        spread_shape=_spread_shape(asked),
        smallest_spread=_numbers(asked, "smallest_spread"),
        methods=None if asked.methods is None else [name.strip() for name in asked.methods.split(",")],
        public_data=asked.public_data,
        runs=None if asked.runs is None else read_count("runs", asked.runs),
        progress=sys.stderr.isatty(),
    )


def _numbers(asked: argparse.Namespace, name: str) -> object:
    text = getattr(asked, name)
    return None if text is None else _of_file(read_numbers(name, text), asked)


def _spread_shape(asked: argparse.Namespace) -> object:
    """Return a word as it is, and numbers as such; words begin with a letter, and names have a = behind them."""
    text = asked.spread_shape
    return text if text is not None and text[:1].isalpha() and "=" not in text else _numbers(asked, "spread_shape")


def _of_file(values: object, asked: argparse.Namespace) -> object:
    return values if asked.public_data is None else by_label(values, asked.public_data)
