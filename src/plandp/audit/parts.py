"""The parts of the audit in the order in which they run: exact ones first."""

from dataclasses import dataclass
from typing import Protocol

from plandp.audit.black_box import BlackBox
from plandp.audit.finding import Finding
from plandp.audit.forks import Forks
from plandp.audit.mechanisms import Mechanisms
from plandp.audit.neighbours import Neighbours
from plandp.audit.noise_law import NoiseLaw
from plandp.audit.one_run import OneRun
from plandp.audit.plan import AuditPlan
from plandp.audit.refusals import Refusals
from plandp.audit.row_by_row import RowByRow
from plandp.audit.targets import mechanism_targets, release_targets


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
    """A part, its weights when time and false alarms are divided, and what it means when it is broken."""

    part: Part
    time: float
    alarms: float  # exact parts raise no false alarms
    meaning: str


PARTS: tuple[Share, ...] = (
    Share(
        part=Neighbours(),
        time=6.0,
        alarms=0.0,
        meaning="one row changes a query by more than its noise was made for, noise is not what was paid for, or rows "
        "show outside of the noisy answers: releases are less private than their receipts say",
    ),
    Share(
        part=RowByRow(),
        time=2.0,
        alarms=0.0,
        meaning="what one row adds depends on other rows, as with sums of floats: the sensitivity of sums is not known",
    ),
    Share(
        part=Mechanisms(),
        time=1.5,
        alarms=0.0,
        meaning="a mechanism loses more privacy than it pays for: every release that uses it costs more than it says",
    ),
    Share(
        part=Refusals(),
        time=1.0,
        alarms=0.0,
        meaning="errors tell about rows: whoever sees an error learns something that was not paid for",
    ),
    Share(
        part=NoiseLaw(),
        time=1.5,
        alarms=1.0,
        meaning="the noise is not the one that the proofs are about: too narrow, too regular, or not independent",
    ),
    Share(
        part=Forks(),
        time=0.2,
        alarms=0.05,
        meaning="two releases can have the same noise, and their difference then has none",
    ),
    Share(
        part=BlackBox(name="mechanisms from outside", targets=mechanism_targets, what="each mechanism"),
        time=8.0,
        alarms=1.0,
        meaning="counted outputs on two neighbouring tables prove a larger loss of privacy than is claimed",
    ),
    Share(
        part=BlackBox(name="releases from outside", targets=release_targets, what="whole releases"),
        time=5.0,
        alarms=1.0,
        meaning="counted releases of two neighbouring tables prove a larger loss of privacy than is claimed",
    ),
    Share(
        part=OneRun(),
        time=5.0,
        alarms=1.0,
        meaning="guesses about rows in releases are right more often than is claimed to be possible",
    ),
)
