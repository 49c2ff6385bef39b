"""Public arithmetic: everything here works on public and on already released numbers only.

For researchers, each name with its page in docs/theory.md; imported when first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plandp.theory.concentration import BinaryRows, Concentration, GaussianRows, WellConcentrated
    from plandp.theory.diameter_bound import distance_from_good_center, unscaled_error_bound
    from plandp.theory.error_bounds import Condition, ErrorBound
    from plandp.theory.noise_moments import (
        ComparedNoise,
        best_stretch,
        compared_noise,
        least_noise_moment,
        noise_moment,
    )
    from plandp.theory.plan_bound import plan_error_bound
    from plandp.theory.rank_search import Feasibility, feasibility, printed_rank_error, rank_error
    from plandp.theory.small_spreads import SmallSpreadBounds, advised_resolution, small_spread_bounds
    from plandp.theory.tails import Tail, TailCheck, exact_rate, tail_check
    from plandp.theory.variance_groups import VarianceBound, enough_pairs, variance_bound

_PLACES = {
    "concentration": ("BinaryRows", "Concentration", "GaussianRows", "WellConcentrated"),
    "diameter_bound": ("distance_from_good_center", "unscaled_error_bound"),
    "error_bounds": ("Condition", "ErrorBound"),
    "noise_moments": ("ComparedNoise", "best_stretch", "compared_noise", "least_noise_moment", "noise_moment"),
    "plan_bound": ("plan_error_bound",),
    "rank_search": ("Feasibility", "feasibility", "printed_rank_error", "rank_error"),
    "small_spreads": ("SmallSpreadBounds", "advised_resolution", "small_spread_bounds"),
    "tails": ("Tail", "TailCheck", "exact_rate", "tail_check"),
    "variance_groups": ("VarianceBound", "enough_pairs", "variance_bound"),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}

__all__ = [
    "BinaryRows",
    "ComparedNoise",
    "Concentration",
    "Condition",
    "ErrorBound",
    "Feasibility",
    "GaussianRows",
    "SmallSpreadBounds",
    "Tail",
    "TailCheck",
    "VarianceBound",
    "WellConcentrated",
    "advised_resolution",
    "best_stretch",
    "compared_noise",
    "distance_from_good_center",
    "enough_pairs",
    "exact_rate",
    "feasibility",
    "least_noise_moment",
    "noise_moment",
    "plan_error_bound",
    "printed_rank_error",
    "rank_error",
    "small_spread_bounds",
    "tail_check",
    "unscaled_error_bound",
    "variance_bound",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name in _PLACE_OF:
        return getattr(import_module(f"plandp.theory.{_PLACE_OF[name]}"), name)
    raise AttributeError(f"module 'plandp.theory' has no attribute {name!r}")
