"""Every exception of plandp.  None of them ever carries a value from the data, not even as its cause."""


class PlandpError(Exception):
    """Anything that plandp refuses to do."""


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
    """A mechanism asked for more ρ than was reserved for this release; nothing was drawn."""
