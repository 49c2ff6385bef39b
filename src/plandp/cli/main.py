"""`plandp`: reads the command line and calls the command.  Exit codes: 0 done, 1 failed, 2 wrong usage or arguments."""

import argparse
import io
import os
import re
import sys
import traceback
from collections.abc import Sequence
from importlib.metadata import version
from typing import NoReturn

from plandp.cli import audit, check, demo, events, ledger, mean, reproduce, show
from plandp.cli.wording import in_options
from plandp.errors import ArgumentError, PlandpError

# Each command is a module with `add_to(commands)`, which sets `run`, a function of the parsed arguments.
COMMANDS = (check, mean, events, show, ledger, audit, reproduce, demo)

EXAMPLES = """\
examples:
  plandp check --n 10000 --d 20 --bounds 0:100 --rho 0.5
  plandp mean survey.csv --bounds 0:100 --rho 0.5 --out release.json
  plandp events visits.csv --person user --item page --items-file pages.txt \\
      --people 75462 --rho 0.5
  plandp show release.json
  plandp ledger create budget.sqlite survey-2026 --rho 2
  plandp audit        five minutes of attacks on the installed library
  plandp reproduce all --quick
                      the PLAN paper's figures and tables, measured again
  plandp demo         a private mean from table to receipt; needs no data,
                      writes a picture to demo_output/
  plandp mean --help  every option, with examples

In Python:
  import plandp
  release = plandp.mean(table, bounds=(0, 100), rho=0.5)

exit codes: 0 done; 1 failed; 2 wrong usage or arguments; 130 stopped by Ctrl-C
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; argparse itself exits, with 2 on wrong usage.  No command: help."""
    given = _with_negative_values(sys.argv[1:] if arguments is None else arguments)
    asked = _parser().parse_args(given or ["--help"])
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ± or ² shows a question mark there
    try:
        asked.run(asked)
        sys.stdout.flush()  # now, so that what cannot be written is told here
    except BrokenPipeError:  # the reader has seen enough, as in `plandp demo | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ArgumentError as error:
        _complain(in_options(error, asked), error)
        return 2
    except (PlandpError, OSError) as error:
        _complain(str(error), error)
        return 1
    except KeyboardInterrupt as stop:
        _complain("stopped", stop)
        return 130
    except Exception as error:  # its text could hold values, so only its kind and place are told
        _complain(f"{_kind_and_place(error)}; nothing else is shown, since it could hold data", error)
        return 1
    return 0


def _complain(problem: str, error: BaseException) -> None:
    """Tell what is wrong in one line, and what was spent for it; other notes could hold data."""
    spent = [note for note in getattr(error, "__notes__", ()) if " of dataset " in note]
    print("; ".join([f"plandp: {problem}", *spent]), file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    """Wrong usage is told in one line, as every other error."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {' '.join(message.split())}; {self.prog} --help shows how\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="plandp",
        description="Differentially private means of tables, one row per person, and of events.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"plandp {version('plandp')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    return parser


def _kind_and_place(error: Exception) -> str:
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return f"unexpected {type(error).__name__} in {frame.f_globals.get('__name__')}, line {line}"


def _with_negative_values(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with `--bounds -5:5` as `--bounds=-5:5`: argparse takes -5:5 for an option."""
    joined: list[str] = []
    for argument in arguments:
        if re.match(r"-\.?\d", argument) and joined and re.fullmatch(r"--[a-z-]+", joined[-1]):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined
