"""Errors in the words of the command line: `--error-norm` instead of `error_norm`."""

import argparse
import inspect
import re
import shlex

from plandp.curator import mean
from plandp.errors import ArgumentError
from plandp.events import mean_of_events

_NAMES = {"data": "FILE", "table": "FILE", "items": "--items-file"}
_ARGUMENTS = {**inspect.signature(mean).parameters, **inspect.signature(mean_of_events).parameters}
_ARGUMENT = re.compile(rf"\b({'|'.join(_ARGUMENTS)})=(?=\S)")
_ONLY_IN_PYTHON = {
    ", or an Estimator from plandp.methods": "",
    ", or give an Estimator another name by dataclasses.replace(estimator, name=...)": "",
    " and ask receipt.epsilon(delta)": "",
    "columns=[...]": "--columns A,B",
    "refine=()": "--refine none",
    "pass (0, high)": "give --bounds 0:HIGH",
    "leave bounds out": "leave --bounds out",
    "leave d out": "leave --d out",
    "leave row_index out": "leave --row-index and --no-row-index out",
    "Ledger(...).register(...), or: ": "",
    "Ledger(...).status(...) lists": "`plandp ledger show` lists",
    "rho=ledger.status(dataset).left": "--rho left",
}
_PAIR = re.compile(r"\bbounds=\(([^(),]+), ([^(),]+)\)")
_COLUMNS = re.compile(r"\bcolumns=\['([^']*(?:', '[^']*)*)'(?:, \.\.\.)?\]")
_BETWEEN = "', '"
_BUDGET = ("rho", "epsilon", "delta")
_BUDGET_WORD = re.compile(rf"(?<!-)\b({'|'.join(_BUDGET)})\b")


def in_options(error: ArgumentError, asked: argparse.Namespace) -> str:
    """Return the message with the option that was given in front, on one line."""
    named = _ARGUMENT.sub(lambda found: f"{_option(found[1])} ", without_python(error.problem))
    if error.argument in _BUDGET:
        named = _BUDGET_WORD.sub(lambda found: _option(found[1]), named)
    # Arguments without dashes, which differ from command to command.
    places: dict[str, str] = getattr(asked, "places", {})
    shown = places.get(error.argument) or _option(_given(error.argument, asked))
    return f"{shown}: {named}"


def without_python(problem: str) -> str:
    """Return what is wrong in words that do not need Python."""
    for words, instead in _ONLY_IN_PYTHON.items():
        problem = problem.replace(words, instead)
    problem = _PAIR.sub(r"--bounds \1:\2", problem)
    problem = _COLUMNS.sub(lambda found: f"--columns {shlex.quote(found[1].replace(_BETWEEN, ','))}", problem)
    return " ".join(problem.split())


def _given(argument: str, asked: argparse.Namespace) -> str:
    """Return what was given in place of an argument: bounds can name the columns, and can stand in a file."""
    given = {name for name, value in vars(asked).items() if value is not None}
    if argument == "row_index" and asked.row_index is False:
        return "no_row_index"
    if argument == "columns" and argument not in given:
        argument = "bounds"
    return "bounds_file" if argument == "bounds" and given & {"bounds", "bounds_file"} == {"bounds_file"} else argument


def _option(argument: str) -> str:
    return _NAMES.get(argument, "--" + argument.replace("_", "-"))
