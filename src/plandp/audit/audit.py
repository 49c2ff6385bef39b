"""Run all parts of the audit: divide time and false alarms, and gather what they found."""

import platform
import time
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import version

import numpy as np
import scipy

from plandp.audit.finding import Finding
from plandp.audit.parts import PARTS, Share
from plandp.audit.plan import EVERY_METHOD, AuditPlan
from plandp.audit.report import AuditReport, Judged
from plandp.audit.watching import kind_and_place
from plandp.errors import ArgumentError
from plandp.kernels.compiler import compiled
from plandp.kernels.proposals import keep_proposals
from plandp.methods import NAMES
from plandp.terms.budget import Number, read_budget

FALSE_ALARM = 1e-4
MOST_MINUTES = 60 * 24 * 7.0


def audit(
    *,
    method: str = EVERY_METHOD,
    rho: Number = Fraction(1, 2),
    minutes: float = 5.0,
    parts: tuple[Share, ...] = PARTS,
    told: Callable[[str], None] = lambda name: None,
) -> AuditReport:
    """Attack the installed library and say what was found, part by part.

    Guarantee: a correct library is called broken with probability at most 10^-4.  Every part runs at least once, so
    very few minutes are exceeded; `told` hears the name of every part that begins.
    """
    if method not in (*NAMES, EVERY_METHOD):
        names = ", ".join(repr(name) for name in (*NAMES, EVERY_METHOD))
        raise ArgumentError("method", f"must be one of {names}")
    if not 0 < minutes <= MOST_MINUTES:
        raise ArgumentError("minutes", f"must be above 0 and at most {MOST_MINUTES:g}, such as 5")
    budget = read_budget(rho=rho, epsilon=None, delta=None)
    began = time.perf_counter()
    compiled(keep_proposals)  # whatever is compiled or loaded first is not on the first part's clock
    alarms = sum(share.alarms for share in parts)
    judged = []
    for place, share in enumerate(parts):
        told(share.part.name)
        left = max(0.0, began + 60.0 * minutes - time.perf_counter())
        plan = AuditPlan(
            method=method,
            rho=budget,
            seconds=left * share.time / sum(other.time for other in parts[place:]),
            false_alarm=FALSE_ALARM * share.alarms / alarms if alarms else 0.0,
        )
        started = time.perf_counter()
        finding = _found(share, plan)
        judged.append(Judged(finding=finding, seconds=time.perf_counter() - started, meaning=share.meaning))
    return AuditReport(
        method=method,
        rho=budget,
        minutes=minutes,
        judged=tuple(judged),
        seconds=time.perf_counter() - began,
        versions=_versions(),
    )


def _found(share: Share, plan: AuditPlan) -> Finding:
    """What the part found; one that cannot finish has found something too."""
    try:
        return share.part.run(plan)
    except Exception as error:  # whatever a broken library raises is a finding
        return Finding(
            name=share.part.name,
            claim="the part runs to its end",
            found=f"BROKEN: raised {kind_and_place(error)}",
            broken=True,
            detail="the library could not even be used in the ways that this part tries",
            false_alarm=0.0,
            runs=0,
        )


def _versions() -> tuple[tuple[str, str], ...]:
    loops = "compiled" if compiled(keep_proposals) is not None else "plain NumPy"
    return (
        ("plandp", version("plandp")),
        ("numpy", np.__version__),
        ("scipy", scipy.__version__),
        ("python", platform.python_version()),
        ("loops", loops),
    )
