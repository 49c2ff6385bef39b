"""Errors in the words of the command line: `--error-norm` instead of `error_norm`."""

import inspect
import re

from plandp.curator import mean
from plandp.errors import ArgumentError

_NAMES = {"data": "FILE"}
_ARGUMENT = re.compile(rf"\b({'|'.join(inspect.signature(mean).parameters)})=(?=\S)")


def in_options(error: ArgumentError) -> str:
    """Return the message with the name of the option in front, on one line."""
    problem = str(error).removeprefix(f"{error.argument}: ")
    named = _ARGUMENT.sub(lambda found: f"{option(found[1])} ", problem)
    return f"{_NAMES.get(error.argument, option(error.argument))}: {' '.join(named.split())}"


def option(argument: str) -> str:
    """Return the option that stands for an argument of `plandp.mean`."""
    return "--" + argument.replace("_", "-")
