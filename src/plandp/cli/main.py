"""`plandp`: reads the command line and calls the command, and says in one line what went wrong."""

import argparse
import difflib
import io
import os
import re
import sys
import traceback
from collections.abc import Sequence
from importlib.metadata import version
from itertools import takewhile
from typing import Any, NoReturn

from plandp.cli import audit, check, compare, demo, events, ledger, mean, reproduce, show
from plandp.cli.release_output import NOTHING_RELEASED
from plandp.cli.wording import in_options, without_python
from plandp.errors import ArgumentError, BudgetExceeded, PlandpError
from plandp.spending import RESERVED, nothing_note
from plandp.stopping import stops_stay_stops

# Each command is a module with `add_to(commands)`, which sets `run`, a function of the parsed arguments.
COMMANDS = (check, compare, mean, events, show, ledger, audit, reproduce, demo)

EXAMPLES = """\
examples:
  plandp check --n 10000 --d 20 --bounds 0:100 --rho 0.5
  plandp compare --n 10000 --d 20 --bounds 0:100 --rho 0.5
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

exit codes: 0 done; 1 failed; 2 wrong usage or arguments; 3 more was asked for
than is left of a budget (nothing was read); 130 stopped by Ctrl-C
"""

DONE, FAILED, WRONG_USAGE, OVER_BUDGET, STOPPED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; argparse itself exits, with 2 on wrong usage.  No command: help."""
    asked = argparse.Namespace()
    try:
        with stops_stay_stops():
            given = _with_negative_values(sys.argv[1:] if arguments is None else arguments)
            asked = _parser().parse_args(given or ["--help"])
            if isinstance(sys.stdout, io.TextIOWrapper):
                sys.stdout.reconfigure(errors="replace")  # a terminal without ± or ² shows a question mark there
            asked.run(asked)
            sys.stdout.flush()  # now, so that what cannot be written is told here
    except BrokenPipeError:  # the reader has seen enough, as in `plandp demo | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ArgumentError as error:
        _complain(in_options(error, asked), error)
        return WRONG_USAGE
    except BudgetExceeded as error:
        _complain(without_python(str(error)), error)
        return OVER_BUDGET
    except (PlandpError, OSError) as error:
        _complain(str(error), error)
        return FAILED
    except KeyboardInterrupt as stop:
        _complain("; ".join(["stopped", *([] if _costs(stop) else _unsaid_cost(asked))]), stop)
        return STOPPED
    except Exception as error:  # its text could hold values, so only its kind and place are told
        _complain(f"{_kind_and_place(error)}; nothing else is shown, since it could hold data", error)
        return FAILED
    return DONE


def _complain(problem: str, error: BaseException) -> None:
    """Tell what is wrong in one line, and what was spent for it."""
    print("; ".join([f"plandp: {problem}", *_costs(error)]), file=sys.stderr)


def _costs(error: BaseException) -> list[str]:
    """Return the notes on what was spent; others could hold data."""
    return [note for note in getattr(error, "__notes__", ()) if " of dataset " in note or note == NOTHING_RELEASED]


def _unsaid_cost(asked: argparse.Namespace) -> list[str]:
    """Return what a stopped release cost where nobody has said it: it had not begun, or has just ended."""
    if "run" not in asked:  # not even the arguments were read
        return ["nothing was read or spent"]
    dataset = asked.dataset if "data" in asked and "dataset" in asked else None
    if dataset is None:
        return []
    if dataset in RESERVED:
        return [f"`plandp ledger show` tells what is spent of dataset {dataset!r}"]
    return [nothing_note(dataset)]


class _Parser(argparse.ArgumentParser):
    """Wrong usage is told in one line, as every other error, and no option is guessed from its beginning."""

    def __init__(self, **named: Any) -> None:
        super().__init__(**{**named, "allow_abbrev": False})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does, but an unknown option is told first, with those that it may have been meant to be."""
        if self._subparsers is None:
            for text in takewhile(lambda text: text != "--", args or ()):
                name = text.partition("=")[0]
                if name.startswith("--") and name not in self._option_string_actions:
                    self.error(f"unrecognized arguments: {name}{self._meant(name)}")
        return super().parse_known_args(args, namespace)

    def _meant(self, name: str) -> str:
        known = [option for option in self._option_string_actions if option.startswith("--")]
        near = [option for option in known if option.startswith(name)] or difflib.get_close_matches(name, known, n=2)
        return f"; did you mean {' or '.join(near)}?" if near else ""

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
