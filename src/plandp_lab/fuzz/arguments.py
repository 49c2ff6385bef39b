"""Public arguments: mostly right, some of them strange."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from plandp_lab.fuzz.values import Draw, one_in, strange

# the first is fifty times faster than the second, and reads rows as the others do
METHODS = ("gaussian",) * 18 + ("plan", "unscaled", "plan-classic", "iome", "coinpress", "mahalanobis")

EVERY = (
    "bounds",
    "columns",
    "delta",
    "epsilon",
    "error_norm",
    "error_scale",
    "kind",
    "method",
    "missing",
    "refine",
    "rho",
    "sampler",
    "smallest_spread",
    "spread",
    "testing_seed",
)


def budgets(draw: Draw) -> dict[str, Any]:
    """Return a right way to say what a release may cost."""
    return dict(
        draw(
            st.sampled_from(
                [
                    {"rho": 1},
                    {"rho": 0.5},
                    {"rho": "1/8"},
                    {"rho": Fraction(7, 3)},
                    {"rho": Decimal("30")},
                    {"rho": 1e-12},
                    {"rho": 1e6},
                    {"epsilon": 1, "delta": 1e-6},
                    {"epsilon": "3", "delta": 0.5},
                ]
            )
        )
    )


def pairs(draw: Draw, labels: tuple[Any, ...]) -> Any:
    """Return right bounds for these columns, in one of their forms."""
    wide = st.sampled_from(
        [(0, 100)] * 3 + [(-5.0, 5.0), (0, 1), (-1e6, 1e6), (99, 100), (0, 1e-9), (-(2.0**110), 2.0**110)]
    )
    form = draw(st.sampled_from(["one", "one", "one", "list", "array", "mapping"]))
    if form == "one" or not labels:
        return draw(wide)
    each = [draw(wide) for _ in labels]
    if form == "mapping":
        return dict(zip(labels, each, strict=True))
    return np.array(each, dtype=float) if form == "array" else each


def real_arguments(draw: Draw, labels: tuple[Any, ...]) -> dict[str, Any]:
    """Return arguments of `plandp.mean` for any numbers, right or nearly so."""
    arguments = budgets(draw) | {"bounds": pairs(draw, labels), "method": draw(st.sampled_from(METHODS))}
    more: dict[str, list[Any]] = {
        "missing": [0.5, 0, 99.5],
        "error_norm": [1, 1.5, 3, 30],
        "error_scale": ["bounds", 2.0],
        "spread": [1.0, 1e-3],
        "smallest_spread": [0.01, 0.5],
        "kind": ["real"],
    }
    arguments |= _some(draw, more)
    return with_strange(draw, _with_columns(draw, arguments, labels), EVERY)


def item_arguments(draw: Draw, labels: tuple[Any, ...]) -> dict[str, Any]:
    """Return arguments of `plandp.mean` for items or counts."""
    arguments = budgets(draw)
    if draw(st.booleans()):
        arguments |= {"kind": "binary"}
    else:
        arguments |= {"kind": "nonnegative", "bounds": draw(st.sampled_from([(0, 1), (0, 50), (0, 1e9), (0, 1e-9)]))}
    more: dict[str, list[Any]] = {
        "error_norm": [1, 2, 3],
        "error_scale": ["bounds"],
        "refine": [(), ["combine"], ["shrink", "clamp"]],
    }
    arguments |= _some(draw, more)
    return with_strange(draw, _with_columns(draw, arguments, labels), EVERY)


def _some(draw: Draw, more: dict[str, list[Any]]) -> dict[str, Any]:
    chosen = draw(st.sets(st.sampled_from(sorted(more)), max_size=2)) if one_in(draw, 3) else ()
    return {name: draw(st.sampled_from(more[name])) for name in sorted(chosen)}


def _with_columns(draw: Draw, arguments: dict[str, Any], labels: tuple[Any, ...]) -> dict[str, Any]:
    if labels and isinstance(arguments.get("bounds"), tuple | None) and one_in(draw, 6):
        return arguments | {"columns": draw(st.permutations(labels))[: draw(st.integers(1, len(labels)))]}
    return arguments


def with_strange(draw: Draw, arguments: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return the arguments, in one case of five with one or two of those of these names made strange."""
    if not one_in(draw, 5):
        return arguments
    for name in sorted(draw(st.sets(st.sampled_from(sorted(names)), min_size=1, max_size=2))):
        arguments = arguments | {name: draw(strange)}
    return arguments


def is_brief(draw: Draw, arguments: dict[str, Any]) -> bool:
    """Whether to end a case when the rows have been read: most of those whose search for a radius takes long."""
    method = arguments.get("method")
    return not (isinstance(method, str) and method == "gaussian") and not one_in(draw, 8)
