"""plandp: differentially private means of many-dimensional data, with noise shaped to the spread of the data.

What a release does not need is imported when first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from plandp.curator import mean
from plandp.errors import (
    ArgumentError,
    BudgetExceeded,
    LedgerDamaged,
    LedgerUnavailable,
    MissingExtra,
    PlandpError,
)
from plandp.ledger.ledger import Ledger
from plandp.terms.receipt import Receipt
from plandp.terms.release import MeanRelease

if TYPE_CHECKING:
    from plandp import classic as classic
    from plandp.comparison.compare import compare
    from plandp.events import mean_of_events
    from plandp.outlook import check
    from plandp.terms.check import Check
    from plandp.terms.comparison import Comparison

__all__ = [
    "ArgumentError",
    "BudgetExceeded",
    "Check",
    "Comparison",
    "Ledger",
    "LedgerDamaged",
    "LedgerUnavailable",
    "MeanRelease",
    "MissingExtra",
    "PlandpError",
    "Receipt",
    "check",
    "compare",
    "mean",
    "mean_of_events",
]

_PLACE_OF = {
    "Check": "terms.check",
    "Comparison": "terms.comparison",
    "check": "outlook",
    "compare": "comparison.compare",
    "mean_of_events": "events",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # or a misspelled name would be of type Any

    def __getattr__(name):
        if name == "classic":  # the parts of plan-classic are for users too, without an import of their own
            return import_module("plandp.classic")
        if name in _PLACE_OF:
            return getattr(import_module(f"plandp.{_PLACE_OF[name]}"), name)
        raise AttributeError(f"module 'plandp' has no attribute {name!r}")
