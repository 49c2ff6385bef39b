"""How the budget of a release from sparse rows is divided, from public numbers alone (decision 7)."""

from fractions import Fraction

from plandp.terms.columns import Columns
from plandp.terms.sparse_design import SparseDesign, SparseSplit

RADIUS = Fraction(1, 100)  # of ρ, for each of the radii
RADIUS_MOST = Fraction(
    1, 5
)  # of values: with few items there is little noise, and rows clipped by chance are the error
SQUARES = Fraction(6, 100)  # only where second moments are not means
GROUPS = Fraction(3, 100)
FIRST = Fraction(35, 100)  # of what is left: the first look at the means, used again in the result
FIRST_VALUES = Fraction(8, 100)  # the same for values, whose first look is clipped too roughly to be used again


def sparse_design(
    *, n: int, columns: Columns, rho: Fraction, error_norm: float, binary: bool, refine: frozenset[str]
) -> SparseDesign:
    """Two looks at the means: one without knowledge, one shaped by it, at about a third and two thirds of ρ."""
    radius = rho * (RADIUS if binary else min(max(Fraction(1, columns.d), RADIUS), RADIUS_MOST))
    rough = rho * (RADIUS if binary else max(radius / rho / 4, RADIUS))
    squares_radius, squares = (Fraction(0), Fraction(0)) if binary else (rough, SQUARES * rho)
    left = rho - rough - radius - GROUPS * rho - squares_radius - squares
    first = (FIRST if binary else FIRST_VALUES) * left
    split = SparseSplit(
        first_radius=rough,
        first_sum=first,
        squares_radius=squares_radius,
        squares=squares,
        groups=GROUPS * rho,
        radius=radius,
        sum=left - first,
    )
    return SparseDesign(n=n, columns=columns, error_norm=error_norm, binary=binary, refine=refine, split=split)
