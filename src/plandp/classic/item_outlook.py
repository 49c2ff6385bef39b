"""What to expect of Algorithm 1 on items that are there or not, from public numbers and assumed popularity alone."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from plandp.classic.guards import rows_to_clip
from plandp.classic.parts import Parts
from plandp.classic.row_norms import norm_lattice
from plandp.terms.design import Design
from plandp.theory.item_norms import exceeded_norm
from plandp.theory.stretch import optimal_stretch

FloatArray = NDArray[np.float64]


def item_noise(popularity: FloatArray, design: Design, *, parts: Parts) -> FloatArray:
    """Noise per item, in units of error_scale, if items come independently: lines 3–7 with what their searches find."""
    n, p, u = design.n, design.error_norm, design.columns.error_scale
    σ = parts.item_spread.expected(popularity, design)
    σr = parts.regulariser(σ / u)
    s = optimal_stretch(σr, p) * u
    typical, longest = (sqrt(float(((length / s) ** 2).sum())) for length in (σ, 1.0))
    U = min(parts.item_universe(spread=σr, stretch=s / u, longest=longest, n=n, error_norm=p), longest)
    k = rows_to_clip(cells=float(norm_lattice(universe=U, typical=typical).cells[0]), design=design, parts=parts)
    C = min(exceeded_norm(popularity, s**-2.0, k / n), U)
    return np.asarray(C * sqrt(2.0 / float(design.split.sum)) / n * s / u)
