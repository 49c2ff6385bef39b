"""Which estimator to take, and why, in one sentence."""

import math
from collections.abc import Sequence
from statistics import stdev

from plandp.terms.comparison import Contender

DEFAULT = "plan"
AS_GOOD = 1.1  # times the lowest error: predictions are no better than that
CLEARLY = 2.0  # standard errors of a difference of two medians


def in_order(contenders: Sequence[Contender], recommended: str) -> tuple[Contender, ...]:
    """Return the recommended one first, then those that find what they need, by error, then the others."""
    return tuple(sorted(contenders, key=lambda found: (found.method != recommended, not found.feasible, found.error)))


def recommend(contenders: Sequence[Contender]) -> tuple[str, str]:
    """Return the estimator with the lowest error among those not in doubt, or the default where it is as good.

    Measured errors count before predicted ones; a prediction of what is in doubt holds only if it goes well.
    """
    sure = [contender for contender in contenders if contender.feasible]
    if not sure:
        best = min(contenders, key=lambda found: found.error)
        return best.method, f"{best.method} has the lowest error, but all are in doubt: more rows or rho are needed"
    best = min(sure, key=lambda found: found.error)
    usual = next((found for found in sure if found.method == DEFAULT), best)
    kind = "predicted" if best.measured_error is None else "measured"
    if usual is not best and usual.error <= AS_GOOD * best.error + CLEARLY * _doubt(usual, best):
        above = f"not clearly above the lowest, that of {best.method}"
        return DEFAULT, f"take {DEFAULT}: it is the default, and its {kind} error is {above}"
    premise = "" if best.premise is None else f"; but it {best.premise}"
    others = [found for found in sure if found is not best]
    lost = len(contenders) - len(sure)
    if not others:
        why = f"the other {lost} would be in doubt with so few rows at this rho" if lost else "nothing else was asked"
        return best.method, f"take {best.method}: {why}{premise}"
    second = min(others, key=lambda found: found.error)
    times = f"{second.error / best.error:.3g} times as much" if best.error else "more"
    among = " of those not in doubt" if min(found.error for found in contenders) < best.error else ""
    next_best = f"the next, {second.method}, has {times}"
    return best.method, f"take {best.method}: it has the lowest {kind} error{among}; {next_best}{premise}"


def _doubt(*contenders: Contender) -> float:
    """The standard error of the difference of two measured medians, as of Gaussian errors; 0 of predictions."""
    errors = [found.measured_errors for found in contenders if len(found.measured_errors) > 1]
    return math.sqrt(sum(math.pi / 2.0 * stdev(runs) ** 2 / len(runs) for runs in errors))
