"""Every exception of plandp.  None of them ever carries a value from the data, not even as its cause."""

import copyreg
from typing import Any


class PlandpError(Exception):
    """Anything that plandp refuses to do."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are unpickled by calling their class with the whole message: pools of processes hang over ours.
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class ArgumentError(PlandpError, ValueError):
    """A public argument is not allowed: the message names it, says what is allowed and what to do."""

    def __init__(self, argument: str, problem: str) -> None:
        super().__init__(f"{argument}: {problem}")
        self.argument = argument
        self.problem = problem


class MissingExtra(PlandpError, ImportError):
    """An optional package is needed for what was asked."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package}; install it with: pip install 'plandp[{extra}]'")


class BudgetExceeded(PlandpError):
    """More ρ was asked for than is left, of a release or of a dataset in a ledger; nothing was drawn."""


class LedgerUnavailable(PlandpError):
    """A ledger could not be read or written: a full disk, a read-only file, a lost connection.

    When a release could not be stored, `release` holds it: its budget is spent, so it must not be lost.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.release: Any = None


class LedgerDamaged(PlandpError):
    """An entry of a ledger is not what was written: changed, removed or put elsewhere.  `release` as above."""

    def __init__(self, dataset: str, number: int, problem: str) -> None:
        super().__init__(f"entry {number} of dataset {dataset!r} {problem}")
        self.dataset = dataset
        self.number = number
        self.problem = problem
        self.release: Any = None
