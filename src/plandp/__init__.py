"""plandp: differentially private means of many-dimensional data, with noise shaped to the spread of the data."""

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
from plandp.events import mean_of_events
from plandp.outlook import check
from plandp.terms.check import Check
from plandp.terms.receipt import Receipt
from plandp.terms.release import MeanRelease

if TYPE_CHECKING:
    from plandp.ledger.ledger import Ledger

__all__ = [
    "ArgumentError",
    "BudgetExceeded",
    "Check",
    "Ledger",
    "LedgerDamaged",
    "LedgerUnavailable",
    "MeanRelease",
    "MissingExtra",
    "PlandpError",
    "Receipt",
    "check",
    "mean",
    "mean_of_events",
]


def __getattr__(name: str) -> object:
    # The ledger is loaded when it is used: most imports of plandp need none.
    if name == "Ledger":
        from plandp.ledger.ledger import Ledger

        return Ledger
    raise AttributeError(f"module 'plandp' has no attribute {name!r}")
