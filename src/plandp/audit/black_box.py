"""Lower bounds on ρ from outside: run on two neighbouring tables many times, and count how often events happen.

Events are chosen on a first part of the runs and counted on the rest.  Clopper–Pearson bounds hold for all of them at
once, and so does the bound on ρ that follows from them, for whatever the library does inside.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from plandp.audit.clock import Clock
from plandp.audit.finding import Finding
from plandp.audit.plan import AuditPlan
from plandp.audit.renyi import epsilon_lower_bound, proportion_bounds, rho_lower_bound
from plandp.audit.watching import kind_and_place
from plandp.terms.zcdp import epsilon_of

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

DELTA = 1e-6
FIRST_PART = 0.2  # of the runs choose the events
BINS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)
TAILS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.998)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Target:
    """Something that claims to be ρ-zCDP, on two neighbouring tables."""

    name: str
    sample: Callable[[int, int], FloatArray]  # table 0 or 1, runs → (runs, features), from released numbers only
    fewest: int  # runs on each table, however little time there is
    most: int  # runs at a time
    weight: float = 1.0  # in the division of time


@dataclass(frozen=True, kw_only=True)
class Bound:
    """What the runs of one target show, at the stated confidence."""

    name: str
    rho: float
    epsilon: float
    runs: int


@dataclass(frozen=True, kw_only=True)
class BlackBox:
    """Does anything lose more than it pays, seen from outside?"""

    name: str
    targets: Callable[[AuditPlan], tuple[Target, ...]]
    what: str

    def run(self, plan: AuditPlan) -> Finding:
        """Bound the loss of every target from below, each in its share of the time."""
        clock = Clock(seconds=plan.seconds)
        targets = self.targets(plan)
        bounds: list[Bound] = []
        raised = []
        for place, target in enumerate(targets):
            weight = target.weight / sum(other.weight for other in targets[place:])
            share = Clock(seconds=max(0.0, clock.left) * weight)
            try:
                bounds.append(bound_of(target, share, error=plan.false_alarm / len(targets)))
            except Exception as error:  # a target that raises is a finding, and the others still run
                raised.append(f"{target.name} raised {kind_and_place(error)}")
        claimed, epsilon = float(plan.rho), epsilon_of(plan.rho, DELTA)
        # Both bounds hold at once: they are about the same events.
        over = [bound for bound in bounds if bound.rho > plan.rho or bound.epsilon > epsilon]
        found = _found(bounds, claimed)
        if over or raised:
            shown = [f"{bound.name} rho >= {_down(bound.rho)}, epsilon >= {_down(bound.epsilon)}" for bound in over]
            found = "BROKEN: " + "; ".join(shown + raised)
        return Finding(
            name=self.name,
            claim=f"{self.what}: rho <= {claimed:g}, epsilon <= {epsilon:.4g} at delta {DELTA:g}",
            found=found,
            broken=bool(over or raised),
            detail="\n".join(_line(bound, claimed) for bound in bounds),
            false_alarm=plan.false_alarm,
            runs=sum(bound.runs for bound in bounds),
        )


def _found(bounds: list[Bound], claimed: float) -> str:
    """The tightest bound, if it says anything; ρ is rounded down and never up: what is shown is still a bound."""
    if not bounds:
        return "nothing ran"
    tightest = max(bounds, key=lambda bound: bound.rho)
    if tightest.rho == 0.0:
        runs = sum(bound.runs for bound in bounds)
        return f"nothing: {runs} runs are too few to tell any loss ({tightest.name}: rho >= 0)"
    return f"rho >= {_down(tightest.rho)}, {tightest.rho / claimed:.0%} of it ({tightest.name})"


def _down(value: float) -> str:
    return f"{np.floor(value * 1000) / 1000:g}"


def _line(bound: Bound, claimed: float) -> str:
    return (
        f"{bound.name}: rho >= {_down(bound.rho)} ({bound.rho / claimed:.0%} of the claim), "
        f"epsilon >= {_down(bound.epsilon)}, {bound.runs} runs"
    )


def bound_of(target: Target, clock: Clock, *, error: float) -> Bound:
    """A lower bound on the ρ of a target that exceeds the true one with probability at most `error`.

    How many runs are counted is settled by the first ones: were it settled by the clock, slow answers could count more.
    """
    began = clock.left
    pilot = _runs(target, max(2, int(FIRST_PART * target.fewest)))
    while clock.left > (1.0 - FIRST_PART) * began:
        pilot = _joined(pilot, _runs(target, min(target.most, max(target.fewest, len(pilot[0]) // 4))))
    first = len(pilot[0])
    in_time = int(first * max(0.0, clock.left) / max(began - clock.left, 1e-9))
    counted = max(target.fewest - first, in_time, 1)  # the clock may have run out meanwhile
    score = _score(*pilot)
    at = _events(score(pilot[0]), score(pilot[1]), counted, error)
    if at is None:
        return Bound(name=target.name, rho=0.0, epsilon=0.0, runs=2 * first)
    edges, swapped = at
    p, q = np.zeros(len(edges) + 1, np.int64), np.zeros(len(edges) + 1, np.int64)
    done = 0
    while done < counted:
        zero, one = _runs(target, min(target.most, counted - done))
        tables = (one, zero) if swapped else (zero, one)
        p, q = p + _counted(score(tables[0]), edges), q + _counted(score(tables[1]), edges)
        done += len(zero)
    rho, epsilon = _from_counts(p, q, counted, error)
    return Bound(name=target.name, rho=rho, epsilon=epsilon, runs=2 * (first + counted))


def _runs(target: Target, count: int) -> tuple[FloatArray, FloatArray]:
    """So many runs on each table."""
    zero, one = (np.nan_to_num(target.sample(table, count)) for table in (0, 1))
    return zero, one


def _joined(some: tuple[FloatArray, FloatArray], more: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
    return np.concatenate([some[0], more[0]]), np.concatenate([some[1], more[1]])


def _score(zero: FloatArray, one: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """The combination of features that tells the tables apart best, were they Gaussian and independent."""
    apart = one.mean(axis=0) - zero.mean(axis=0)
    # without any noise the variance is zero, and the difference all the more telling
    spread = np.maximum(zero.var(axis=0) + one.var(axis=0), np.maximum(1e-12 * apart**2, 1e-300))
    strength = apart**2 / spread
    # where most of the difference sits in one feature, the others would only add their noise
    weights = np.where(strength >= 0.1 * strength.max(), apart / spread, 0.0)
    return lambda features: features @ weights


def _events(zero: FloatArray, one: FloatArray, runs: int, error: float) -> tuple[FloatArray, bool] | None:
    """The edges between events, and whose they are, that promise the largest bound from so many runs."""
    pooled = np.sort(np.concatenate([zero, one]))
    cuts = [np.arange(1, bins) / bins for bins in BINS] + [
        np.array([tail]) for tail in TAILS + tuple(1 - t for t in TAILS)
    ]
    best: tuple[float, FloatArray, bool] | None = None
    for cut in cuts:
        edges = np.unique(pooled[(cut * (len(pooled) - 1)).astype(int)])
        shares = [_counted(values, edges) / len(values) for values in (zero, one)]
        for swapped in (False, True):
            p, q = (shares[1], shares[0]) if swapped else (shares[0], shares[1])
            promised = rho_lower_bound(*_roughly(p, q, runs, len(zero), error))
            if best is None or promised > best[0]:
                best = promised, edges, swapped
    return None if best is None else best[1:]


def _roughly(p: FloatArray, q: FloatArray, runs: int, first: int, error: float) -> tuple[FloatArray, FloatArray]:
    """About what the bounds will be (Wilson's): enough to choose events by, and much faster.

    Shares were seen in `first` runs only: where few events decide, luck would make them look better than they are.
    """
    z = float(ndtri(1.0 - error / (2 * len(p))))
    bounds = []
    for share, side in ((p, -1.0), (q, 1.0)):
        doubted = np.clip(share + side * np.sqrt((share * (1.0 - share) + 1.0 / first) / first), 0.0, 1.0)
        middle = doubted + z**2 / (2 * runs)
        width = z * np.sqrt(doubted * (1.0 - doubted) / runs + z**2 / (4 * runs**2))
        bounds.append(np.clip((middle + side * width) / (1.0 + z**2 / runs), 0.0, 1.0))
    return bounds[0], bounds[1]


def _counted(values: FloatArray, edges: FloatArray) -> IntArray:
    return np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges) + 1)


def _from_counts(p: IntArray, q: IntArray, runs: int, error: float) -> tuple[float, float]:
    """Bounds on ρ and ε from counts of disjoint events in so many runs on each of two tables."""
    each = error / (2 * len(p))  # half of all bounds are about p, half about q
    p_low, _ = proportion_bounds(np.minimum(p, runs), runs, error=each)
    _, q_high = proportion_bounds(np.minimum(q, runs), runs, error=each)
    return rho_lower_bound(p_low, q_high), epsilon_lower_bound(p_low, q_high, DELTA)


def sampled(one: Callable[[int], FloatArray]) -> Callable[[int, int], FloatArray]:
    """Many runs, one by one, of a function from the table to released numbers."""

    def sample(table: int, count: int) -> FloatArray:
        return np.stack([one(table) for _ in range(count)])

    return sample
