"""The parts of the audit in the order in which they run: exact ones first."""

from dataclasses import dataclass
from typing import Protocol

from plandp.audit.finding import Finding
from plandp.audit.plan import AuditPlan


class Part(Protocol):
    """One attack."""

    @property
    def name(self) -> str:
        """What the table of findings calls it."""
        ...

    def run(self, plan: AuditPlan) -> Finding:
        """Attack within the time and the false-alarm probability of `plan`."""
        ...


@dataclass(frozen=True, kw_only=True)
class Share:
    """A part, and its weights when time and false alarms are divided; exact parts raise no false alarms."""

    part: Part
    time: float
    alarms: float


PARTS: tuple[Share, ...] = ()
