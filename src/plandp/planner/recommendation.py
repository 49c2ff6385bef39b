"""Which estimator to take, and why, in one sentence."""

from collections.abc import Sequence

from plandp.planner.measured_difference import clearly_above
from plandp.terms.comparison import Contender

DEFAULT = "plan"
AS_GOOD = 1.1  # times the lowest error: predictions are no better than that
FLUKE = 0.05  # chance that any of the others looks clearly better than the default when all are as good


def in_order(contenders: Sequence[Contender], recommended: str) -> tuple[Contender, ...]:
    """Return the recommended one first, then those that find what they need, by error, then the others."""
    return tuple(sorted(contenders, key=lambda found: (found.method != recommended, not found.feasible, found.error)))


def recommend(contenders: Sequence[Contender]) -> tuple[str, str]:
    """Return the estimator with the lowest error among those not in doubt, or the default where none is clearly better.

    Measured errors count before predicted ones; a prediction of what is in doubt holds only if it goes well.
    """
    sure = [contender for contender in contenders if contender.feasible]
    if not sure:
        return _least_doubtful(contenders)
    best = min(sure, key=lambda found: found.error)
    usual = next((found for found in sure if found.method == DEFAULT), best)
    kind = "predicted" if best.measured_error is None else "measured"
    if usual is not best:
        better = [found for found in sure if _is_above(usual, found, AS_GOOD, among=len(sure))]
        if not better:
            return DEFAULT, f"take {DEFAULT}: it is the default, and {_not_clearly_above(usual, best, kind)}"
        best = min(better, key=lambda found: found.error)
    return best.method, f"take {best.method}: {_why(best, sure, contenders, kind)}"


def _least_doubtful(contenders: Sequence[Contender]) -> tuple[str, str]:
    """Return the lowest error of those that more rows would help, or else of all."""
    best = min(contenders, key=lambda found: (found.smallest_n is None, found.error))
    lowest = best.error == min(found.error for found in contenders)
    among = "" if lowest else " of those that more rows would help"
    needed = "" if best.smallest_n is None else ": more rows or rho are needed"
    return best.method, f"{best.method} has the lowest error{among}, but all are in doubt{needed}"


def _not_clearly_above(usual: Contender, best: Contender, kind: str) -> str:
    if usual.error <= AS_GOOD * best.error:
        return f"its {kind} error is not clearly above the lowest, that of {best.method}"
    return f"{_too_few(usual)} to tell whether {best.method}, with the lowest measured error, is better"


def _why(best: Contender, sure: Sequence[Contender], contenders: Sequence[Contender], kind: str) -> str:
    premise = "" if best.premise is None else f"; but it {best.premise}"
    if len(sure) == 1:
        return f"{_alone([found for found in contenders if not found.feasible])}{premise}"
    above = [found for found in sure if found is not best and found.error >= best.error]
    among = " of those not in doubt" if min(found.error for found in contenders) < best.error else ""
    if len(above) < len(sure) - 1:
        among = f" of those that are clearly better than {DEFAULT}"
    second = min(above, key=lambda found: found.error)
    apart = kind == "predicted" or _is_above(second, best, 1.0, among=2)
    told = "" if apart else f"; {_too_few(best)} to tell them apart"
    times = _times(second.error / best.error) if best.error else "more"
    return f"it has the lowest {kind} error{among}; the next, {second.method}, has {times}{told}{premise}"


def _alone(lost: Sequence[Contender]) -> str:
    if not lost:
        return "nothing else was asked"
    rows = " with so few rows at this rho" if all(found.smallest_n is not None for found in lost) else ""
    return f"the other {len(lost)} would be in doubt{rows}"


def _times(ratio: float) -> str:
    shown = f"{ratio:.3g}"
    return "about as much" if shown == "1" else f"{shown} times as much"


def _too_few(measured: Contender) -> str:
    runs = len(measured.measured_errors)
    return "1 run is too few" if runs == 1 else f"{runs} runs are too few"


def _is_above(contender: Contender, other: Contender, times: float, *, among: int) -> bool:
    """Whether an error is over `times` another; of measured ones clearly, `other` being picked `among` so many."""
    if contender.measured_errors and other.measured_errors:
        chance = FLUKE / (among - 1)
        return clearly_above(contender.measured_errors, other.measured_errors, times=times, chance=chance)
    return contender.error > times * other.error
