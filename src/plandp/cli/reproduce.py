"""`plandp reproduce`: every figure and table of the PLAN paper, measured again; the laboratory does the work."""

import argparse
import os
import shlex
import sys
from pathlib import Path

from plandp.cli.values import read_count
from plandp.errors import ArgumentError

EXAMPLES = """\
examples:
  plandp reproduce --list
      the names of all figures and tables
  plandp reproduce variance,noise-shapes --out paper
      two of them: tables on standard output, results and figures in paper/
  plandp reproduce all --quick --data DIR
      a little of everything, within 10 minutes on two cores
  plandp reproduce all --data DIR --processes 8
      the paper's settings, 50 runs a cell, which takes hours; stopped by
      Ctrl-C, the same command goes on where it was

Kosarak and POS are not part of plandp: without --data, whatever needs them
(histograms, kosarak, pos, times, and panels of binary and no-scaling-binary)
is left out, and said to be.  DIR holds kosarak.npz, from kosarak.dat of the
FIMI repository, and pos.npz, from the BMS-POS set of KDD Cup 2000: people ×
items, float or bool, as scipy.sparse.save_npz writes them.  They are checked
by rows, columns and ones; docs/command-line.md says what these must be.
Subsets that are known are taken in their place and called subsets.

Needs the extras plot and arrow.  The tables that it draws hold nobody's data.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Describe the command to argparse."""
    command = commands.add_parser(
        "reproduce",
        help="measure every figure and table of the PLAN paper again",
        description="Measure figures and tables of the PLAN paper again at honest rho, beside what was published.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("names", nargs="?", metavar="LIST", help="names, separated by commas, or all")
    command.add_argument("--list", action="store_true", help="tell all names and do nothing else")
    command.add_argument(
        "--data", type=Path, metavar="DIR", help="where Kosarak and POS are; needed for what shows them"
    )
    command.add_argument(
        "--out", type=Path, default=Path("reproduction"), metavar="DIR", help="where results go (default: reproduction)"
    )
    command.add_argument("--quick", action="store_true", help="fewer runs, sizes and budgets")
    command.add_argument("--runs", help="runs a cell (default: 50, as in the paper; with --quick 5)")
    command.add_argument("--processes", help="at the same time, one thread each (default: one per core)")
    command.add_argument(
        "--write-docs", type=Path, metavar="DIR", help="with all: also write reproduction.md and its pictures there"
    )
    command.set_defaults(run=run, places={"exhibits": "LIST", "data": "--data"})


def run(asked: argparse.Namespace) -> None:
    """Measure what is missing and show what is asked for."""
    from plandp_lab.reproduce.command import chosen_scale, list_exhibits, reproduce  # the declared exception

    if asked.list:
        if asked.names is not None:
            raise ArgumentError("exhibits", "--list tells all names and takes none")
        list_exhibits(asked.data, print)
        return
    if asked.names is None:
        raise ArgumentError("exhibits", "give names of figures and tables, or all; plandp reproduce --list tells them")
    processes = os.cpu_count() or 1 if asked.processes is None else read_count("processes", asked.processes)
    reproduce(
        asked.names,
        scale=chosen_scale(quick=asked.quick, runs=None if asked.runs is None else read_count("runs", asked.runs)),
        data=asked.data,
        out=asked.out,
        processes=processes,
        tell=lambda text: print(text, file=sys.stdout),
        docs=asked.write_docs,
        command=shown_command(asked),
    )


def shown_command(asked: argparse.Namespace) -> str:
    """The command that makes the same page elsewhere: whatever is measured, not where."""
    options = [
        *(["--quick"] if asked.quick else []),
        *(["--runs", asked.runs] if asked.runs is not None else []),
        *(["--data", "DIR"] if asked.data is not None else []),
        *(["--write-docs", "docs"] if asked.write_docs is not None else []),
    ]
    return shlex.join(["plandp", "reproduce", asked.names, *options])
