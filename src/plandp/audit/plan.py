"""What an audit is asked to attack, and what it may use up."""

from dataclasses import dataclass
from fractions import Fraction

from plandp.methods import NAMES, find_estimator

TAKING_ITEMS = tuple(name for name in NAMES if find_estimator(name).items)  # besides "plan", which takes all kinds
EVERY_METHOD = "all"


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """What one part of the audit may do: `seconds` and `false_alarm` are this part's own share."""

    method: str  # of plandp.mean, or "all"
    rho: Fraction
    seconds: float
    false_alarm: float  # the part may call a correct library broken with at most this probability

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods for tables of real numbers that are attacked."""
        return NAMES if self.method == EVERY_METHOD else (self.method,)

    @property
    def sparse(self) -> bool:
        """Whether all kinds with few items in a row are attacked too: they have the method "plan" only."""
        return "plan" in self.methods

    @property
    def taking_items(self) -> tuple[str, ...]:
        """The other methods that take items that are there or not."""
        return tuple(method for method in self.methods if method in TAKING_ITEMS)
