"""`plandp`: reads the command line and calls the command.  Exit codes: 0 done, 1 failed, 2 wrong usage."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from plandp.cli.demo import demo

EXAMPLES = """\
examples:
  plandp demo         a private mean from table to receipt; needs no data, writes a picture to demo_output/
  plandp --version    the installed version

In Python:
  import plandp
  release = plandp.mean(table, bounds=(0, 100), rho=0.5)
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; argparse itself exits with 2 on wrong usage."""
    parser = argparse.ArgumentParser(
        prog="plandp",
        description="Differentially private means of tables, one row per person.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"plandp {version('plandp')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    told = "tell the whole story on an example that needs no data"
    commands.add_parser("demo", help=told, description=told.capitalize() + ".").set_defaults(run=demo)
    run = parser.parse_args(arguments).run
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ± or ² shows a question mark there
    try:
        run()
        sys.stdout.flush()  # now, so that what cannot be written is told here
    except BrokenPipeError:  # the reader has seen enough, as in `plandp demo | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"plandp: {error}", file=sys.stderr)
        return 1
    return 0
