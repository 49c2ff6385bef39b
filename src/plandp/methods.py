"""The estimators by name: each a plan made from public numbers and a run that reads the data."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, Protocol

from plandp.algorithm import plan_mean
from plandp.baselines.gaussian import gaussian_mean
from plandp.baselines.unscaled import unscaled_mean
from plandp.data.rows import Rows
from plandp.data.sparse_rows import SparseRows
from plandp.errors import ArgumentError
from plandp.noise.meter import MeteredNoise
from plandp.planner.prediction import (
    PREDICT_GAUSSIAN,
    PREDICT_MAHALANOBIS,
    PREDICT_PLAN,
    PREDICT_UNSCALED,
    Predictor,
    predict_coinpress,
    predict_iome,
    predict_iome_items,
)
from plandp.planner.split import coinpress_design, gaussian_design, iome_design, plan_design, unscaled_design
from plandp.steps.estimate import Estimate
from plandp.terms.columns import SMALLEST_SPREAD_SHARE, Columns
from plandp.terms.design import Design
from plandp.theory.iome import published_reach, rotated_reach
from plandp.theory.stretch import mahalanobis_stretch

if TYPE_CHECKING:
    from plandp.classic.item_variance import ItemSpread
    from plandp.classic.regularisers import Regulariser
    from plandp.classic.small_spread import SmallSpread
    from plandp.classic.spread import SpreadEstimator
    from plandp.classic.universe import Universe
    from plandp.mechanisms.quantiles import Quantile
    from plandp.planner.item_prospects import ItemFuture

MOST_STEPS = 100
MOST_HALVINGS = 45  # of a universe: finer than float64 would tell
MOST_OFFSET = 100
IOME_UNIVERSES = {"box": rotated_reach, "published": published_reach}


class Planner(Protocol):
    """Makes the design of a release from public numbers."""

    def __call__(self, *, n: int, columns: Columns, rho: Fraction, error_norm: float) -> Design:
        """Return all that is fixed before a row is read."""
        ...


@dataclass(frozen=True, kw_only=True)
class ItemMethod:
    """How a method goes about items that are there or not; `run` must spend exactly `design.split.rho`.

    `predictor` is for `plandp.check` and `plandp.compare`, and goes by the popularity of the items.
    """

    plan: Planner
    run: Callable[[SparseRows, Design, MeteredNoise], Estimate]
    predictor: Predictor | None = None


@dataclass(frozen=True, kw_only=True)
class Estimator:
    """A method for `plandp.mean`: `run` must spend exactly `design.split.rho` at the door it is given.

    `predictor` is for `plandp.check`, which says beforehand what to expect.  `items` is for kind="binary"; a method
    without it takes tables of numbers only.  `plan_of_all` is for rows without public numbers, of which no sample can
    be drawn, where that makes a difference; a method that pairs rows or adds noise by number `needs_order`.
    """

    name: str
    plan: Planner
    run: Callable[[Rows, Design, MeteredNoise], Estimate]
    predictor: Predictor | None = None
    items: ItemMethod | None = None
    plan_of_all: Planner | None = None
    needs_order: bool = False

    def design(self, *, n: int, columns: Columns, rho: Fraction, error_norm: float, numbered: bool) -> Design:
        """The plan for rows with or without public numbers."""
        plan = self.plan if numbered or self.plan_of_all is None else self.plan_of_all
        return plan(n=n, columns=columns, rho=rho, error_norm=error_norm)


_PLAN_OF_ALL = partial(plan_design, sampled=False)
PLAN = Estimator(name="plan", plan=plan_design, run=plan_mean, predictor=PREDICT_PLAN, plan_of_all=_PLAN_OF_ALL)
MAHALANOBIS = Estimator(
    name="mahalanobis",
    plan=plan_design,
    run=partial(plan_mean, stretch=mahalanobis_stretch),
    predictor=PREDICT_MAHALANOBIS,
    plan_of_all=_PLAN_OF_ALL,
)
UNSCALED = Estimator(
    name="unscaled",
    plan=unscaled_design,
    run=unscaled_mean,
    predictor=PREDICT_UNSCALED,
    plan_of_all=partial(unscaled_design, sampled=False),
)
GAUSSIAN = Estimator(name="gaussian", plan=gaussian_design, run=gaussian_mean, predictor=PREDICT_GAUSSIAN)


def iome(
    *,
    steps: int = 20,
    offset: float = 2,
    radius_share: Fraction = Fraction(1, 100),
    universe: Literal["box", "published"] = "box",
) -> Estimator:
    """IOME: `steps` halvings in every search, `offset` times as many rows to clip as its authors have.

    `radius_share` of what the centre leaves of ρ goes to the radius.  The defaults are those with which the PLAN paper
    compares; its authors' own are steps=10, offset=1 and radius_share=Fraction(1, 4).  `universe` is where rotated
    medians are looked for: "box" holds every row within the bounds ±M, but for 1 rotation in 2²⁰; "published", ±M/√d
    as in the published runs, holds rows of norm M and less, and finds those with less noise.
    """
    if type(steps) is not int or not 1 <= steps <= MOST_HALVINGS:
        raise ArgumentError("steps", f"must be a whole number from 1 to {MOST_HALVINGS}")
    if type(offset) not in (float, int) or not 0 <= offset <= MOST_OFFSET:
        raise ArgumentError("offset", f"must be a number from 0 to {MOST_OFFSET}")
    exact = isinstance(radius_share, Fraction)
    # NumPy's integers, which a Fraction keeps as they are, could overflow, even when they are compared
    share = Fraction(int(radius_share.numerator), int(radius_share.denominator)) if exact else Fraction(0)
    if not Fraction(1, 10**6) <= share <= Fraction(1, 2):
        raise ArgumentError("radius_share", "must be a Fraction from 1/1000000 to 1/2")
    if not isinstance(universe, str) or universe not in IOME_UNIVERSES:
        raise ArgumentError("universe", f"must be one of {', '.join(map(repr, IOME_UNIVERSES))}")
    from plandp.baselines.iome import iome_items, iome_mean  # here, since few ask for it

    reach = IOME_UNIVERSES[universe]
    plan = partial(iome_design, steps=steps, radius_share=share)
    return Estimator(
        name="iome",
        plan=plan,
        run=partial(iome_mean, offset=float(offset), reach=reach),
        predictor=predict_iome(offset=float(offset), reach=reach),
        items=ItemMethod(
            plan=plan,
            run=partial(iome_items, offset=float(offset), reach=reach),
            # 0/1 rows around ½ are √d/2 long, far outside the published universe: no error can be promised there
            predictor=predict_iome_items(offset=float(offset)) if universe == "box" else None,
        ),
    )


def coinpress(*, steps: int = 4, spread_share: float = 0.1) -> Estimator:
    """CoinPress with this number of steps (Biswas et al. 2020 show 1 to 4, and 10 for balls of 10⁴ spreads).

    It needs spreads: those that `plandp.mean` is given, or else `spread_share` of the widths of the bounds.
    """
    if type(steps) is not int or not 1 <= steps <= MOST_STEPS:
        raise ArgumentError("steps", f"must be a whole number from 1 to {MOST_STEPS}")
    if type(spread_share) not in (float, int) or not SMALLEST_SPREAD_SHARE <= spread_share <= 1:
        raise ArgumentError("spread_share", "must be a number from 2**-20 to 1")
    from plandp.baselines.coinpress import coinpress_mean  # here, since few ask for it

    return Estimator(
        name="coinpress",
        plan=partial(coinpress_design, steps=steps),
        run=partial(coinpress_mean, spread_share=float(spread_share)),
        predictor=predict_coinpress(spread_share=float(spread_share)),
    )


def plan_classic(
    *,
    quantile: "Quantile | None" = None,
    spread: "SpreadEstimator | None" = None,
    regulariser: "Regulariser | None" = None,
    universe: "Universe | None" = None,
    small_spread: "SmallSpread | None" = None,
    item_spread: "ItemSpread | None" = None,
    item_universe: "Universe | None" = None,
    failure_probability: float = 0.1,
) -> Estimator:
    """Algorithm 1 of the paper with these parts from `plandp.classic`; those of its evaluation where left out.

    The first five are for tables of numbers, `item_spread` and `item_universe` for kind="binary".
    """
    from plandp.classic.algorithm import plan_classic_mean  # here, since few ask for it
    from plandp.classic.guards import rank_error_shares, usual_rows_to_clip
    from plandp.classic.item_outlook import item_noise
    from plandp.classic.items import plan_classic_items
    from plandp.classic.parts import Parts
    from plandp.planner.classic import ClassicFuture, ClassicItemFuture, classic_design

    chosen = {
        "quantile": quantile,
        "spread": spread,
        "regulariser": regulariser,
        "universe": universe,
        "small_spread": small_spread,
        "item_spread": item_spread,
        "item_universe": item_universe,
    }
    given: dict[str, Any] = {name: part for name, part in chosen.items() if part is not None}
    parts = Parts(**given, failure_probability=failure_probability)
    future = ClassicFuture(
        rank_errors=partial(rank_error_shares, parts=parts),
        regularised=parts.regulariser,
        rows_to_clip=partial(usual_rows_to_clip, parts=parts),
    )
    of_items = ClassicItemFuture(spreads_are_told=parts.item_spread.is_told, noise=partial(item_noise, parts=parts))
    return Estimator(
        name="plan-classic",
        plan=partial(classic_design, spreads=parts.spread.costs),
        run=partial(plan_classic_mean, parts=parts),
        needs_order=True,
        predictor=Predictor(find=future.find, expect=future.expect),
        items=ItemMethod(
            plan=partial(classic_design, centers=False, spreads=parts.item_spread.costs),
            run=partial(plan_classic_items, parts=parts),
            predictor=Predictor(find=of_items.find, expect=of_items.expect),
        ),
    )


_BY_NAME: dict[str, Estimator | Callable[[], Estimator]] = {
    "plan": PLAN,
    "unscaled": UNSCALED,
    "gaussian": GAUSSIAN,
    "plan-classic": plan_classic,
    "iome": iome,
    "coinpress": coinpress,
    "mahalanobis": MAHALANOBIS,
}

NAMES = tuple(_BY_NAME)

if TYPE_CHECKING:
    PLAN_CLASSIC: Estimator
    IOME: Estimator
    COINPRESS: Estimator
else:

    def __getattr__(name):
        if name in ("PLAN_CLASSIC", "IOME", "COINPRESS"):
            return _by_name(name.lower().replace("_", "-"))
        raise AttributeError(f"module 'plandp.methods' has no attribute {name!r}")


def find_estimator_of_items(method: object, kind: str, *, argument: str = "method") -> Estimator:
    """The same for a kind whose rows may be sparse, which not every method knows."""
    try:
        estimator = find_estimator(method)
    except ArgumentError:
        estimator = None
    if estimator is PLAN or (kind == "binary" and estimator is not None and estimator.items is not None):
        return estimator
    *others, last = map(repr, names_for_items(kind))
    known = f"{', '.join(others)} or {last}" if others else last
    raise ArgumentError(argument, f"must be {known} with kind={kind!r}; leave it out")


def names_for_items(kind: str) -> tuple[str, ...]:
    """The methods by name that know rows of this kind, which may be sparse."""
    of_binary = [name for name in NAMES if _by_name(name).items is not None]
    return (PLAN.name, *(of_binary if kind == "binary" else []))


def item_future(estimator: Estimator, kind: str = "binary") -> "ItemFuture":
    """What `plandp.check` and `plandp.compare` predict for items by."""
    from plandp.planner.item_prospects import other_prospect, plan_prospect  # here, since a release needs neither

    if estimator.items is None:
        return partial(plan_prospect, binary=kind == "binary")
    if estimator.items.predictor is None:
        raise ArgumentError("method", "this Estimator has no predictor for items, so nothing can be said beforehand")
    return partial(other_prospect, plan=estimator.items.plan, predictor=estimator.items.predictor)


def find_estimator(method: object) -> Estimator:
    """The estimator that a name stands for, or the estimator itself."""
    if isinstance(method, Estimator):
        return method
    if isinstance(method, str) and method in _BY_NAME:
        return _by_name(method)
    names = ", ".join(repr(name) for name in _BY_NAME)
    raise ArgumentError("method", f"must be one of {names}, or an Estimator from plandp.methods")


@cache  # so that a name always stands for the same estimator
def _by_name(name: str) -> Estimator:
    found = _BY_NAME[name]
    return found if isinstance(found, Estimator) else found()
