"""plandp: differentially private means of many-dimensional data, with noise shaped to the spread of the data."""

from plandp.comparison.compare import compare
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
from plandp.ledger.ledger import Ledger
from plandp.outlook import check
from plandp.terms.check import Check
from plandp.terms.comparison import Comparison
from plandp.terms.receipt import Receipt
from plandp.terms.release import MeanRelease

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
