"""Where the time of a release goes: CPU time of its parts, each without the parts it calls."""

import importlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

REST = "everything else"
# which function is which part; a part that calls another is not charged for it
PARTS = (
    ("plandp.algorithm", "stretched_norm_cells", "the pass over all rows"),
    ("plandp.algorithm", "public_sample", "drawing the sample"),
    ("plandp.steps.center", "counted_keys", "centre: lattice keys"),
    ("plandp.steps.center", "private_counts_below", "centre: counting"),
    ("plandp.theory.bisection", "MedianEvidence.__call__", "centre: bisection"),
    ("plandp.theory.bisection", "MedianPosterior.updated", "centre: bisection"),
    ("plandp.theory.bisection", "MedianPosterior.next_threshold", "centre: bisection"),
    ("plandp.steps.center", "fit_locations", "centre: fit"),
    ("plandp.steps.spread", "cell_totals", "spread: three passes over the sample"),
    ("plandp.steps.spread", "private_tail_cell", "spread and radius: searches"),
    ("plandp.steps.radius", "private_tail_cell", "spread and radius: searches"),
    ("plandp.steps.spread", "posterior_moments", "spread: prior"),
    ("plandp.noise.meter", "MeteredNoise.release", "noise and payments"),
)


@dataclass(kw_only=True)
class Spent:
    """Seconds of one release, and the share of every part."""

    seconds: float = 0.0
    shares: dict[str, float] = field(default_factory=dict)


def time_spent(run: Callable[[], object], *, repeats: int) -> Spent:
    """The parts of `run`, by CPU time, over some repeats."""
    run()
    with _watched() as parts:
        run()
        parts.clear()
        begin = time.process_time()
        for _ in range(repeats):
            run()
        total = time.process_time() - begin
    shares = {label: parts[label] / total for label in dict.fromkeys(label for _, _, label in PARTS)}
    return Spent(seconds=total / repeats, shares={**shares, REST: 1.0 - sum(shares.values())})


@contextmanager
def _watched() -> Iterator[dict[str, float]]:
    """Within this block every part adds its own time to what is handed out."""
    parts: dict[str, float] = defaultdict(float)
    inner: list[float] = []
    places = [(*_place(module, name), label) for module, name, label in PARTS]
    for owner, name, original, label in places:
        setattr(owner, name, _timed(original, label, parts, inner))
    try:
        yield parts
    finally:
        for owner, name, original, _ in places:
            setattr(owner, name, original)


def _place(module: str, name: str) -> tuple[Any, str, Callable[..., Any]]:
    owner: Any = importlib.import_module(module)
    *classes, last = name.split(".")
    for each in classes:
        owner = getattr(owner, each)
    return owner, last, getattr(owner, last)


def _timed(original: Callable[..., Any], label: str, parts: dict[str, float], inner: list[float]) -> Callable[..., Any]:
    @wraps(original)
    def timed(*arguments: Any, **named: Any) -> Any:
        begin = time.process_time()
        inner.append(0.0)
        try:
            return original(*arguments, **named)
        finally:
            spent = time.process_time() - begin
            parts[label] += spent - inner.pop()
            if inner:
                inner[-1] += spent

    return timed
