from fractions import Fraction

import numpy as np
import pytest

from plandp.planner.split import plan_design
from plandp.terms.columns import read_columns
from plandp.theory.clipping import MOST_CLIPPED, gaussian_radius, noise_in_radii, one_sided_rows, rows_to_clip
from plandp.theory.stretch import optimal_stretch

SPREADS = {
    "equal, d=1": np.ones(1),
    "equal, d=8": np.ones(8),
    "equal, d=512": np.ones(512),
    "skewed, d=64": np.sqrt(64.0 / np.arange(1, 65)),
    "one large": np.array([10.0, 1.0, 1.0, 1.0]),
}


def design_of(d, n=10_000, rho=1):
    columns = read_columns(labels=range(d), bounds=(-100.0, 100.0))
    return plan_design(n=n, columns=columns, rho=Fraction(rho), error_norm=2.0)


@pytest.mark.parametrize("name", SPREADS)
@pytest.mark.parametrize("share", [0.1, 0.01, 0.002])
def test_the_gaussian_radius_against_simulation(name, share):
    # 200,000 rows: the quantile at .002 has 400 rows above, a standard error below .5% of the norm, 2% of the excess.
    spread = SPREADS[name]
    rng = np.random.default_rng(0)
    norm = np.sort(np.sqrt(sum((s * rng.standard_normal(200_000)) ** 2 for s in spread)))
    above = norm[len(norm) - int(share * len(norm)) :]
    radius, excess = gaussian_radius(spread, share)
    assert radius == pytest.approx(above[0], rel=0.02)
    assert excess == pytest.approx(above.mean() / above[0] - 1.0, rel=0.15)


def test_the_gaussian_radius_scales_and_falls_with_the_share():
    spread = SPREADS["skewed, d=64"]
    radius, excess = gaussian_radius(spread, 0.01)
    scaled, same_excess = gaussian_radius(1e6 * spread, 0.01)
    assert scaled == pytest.approx(1e6 * radius)
    assert same_excess == pytest.approx(excess)
    radii = [gaussian_radius(spread, share)[0] for share in (0.1, 0.03, 0.01, 0.001)]
    assert np.all(np.diff(radii) > 0)


def test_heavier_tails_have_fewer_rows_clipped():
    spread = 64.0 / np.arange(1, 65)
    stretch, design = optimal_stretch(spread, 2.0), design_of(64)
    gaussian, _ = gaussian_radius(spread / stretch, one_sided_rows(stretch, design) / design.n)
    rows = [rows_to_clip(gaussian * times, spread, stretch, design) for times in np.geomspace(0.2, 20.0, 200)]
    assert np.all(np.diff(rows) <= 1e-9)
    assert rows[-1] == pytest.approx(one_sided_rows(stretch, design))
    assert rows[0] > 2 * rows[-1]


@pytest.mark.parametrize("n", [30, 1000, 100_000])
@pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1), Fraction(100)])
def test_never_more_than_a_tenth_of_the_rows_is_clipped(n, rho):
    spread = np.ones(100)
    stretch, design = optimal_stretch(spread, 2.0), design_of(100, n, rho)
    rows = [rows_to_clip(radius, spread, stretch, design) for radius in np.geomspace(1e-3, 1e5, 100)]
    assert max(rows) <= MOST_CLIPPED * n * (1 + 1e-12)
    assert min(rows) > 0


def test_the_noise_of_the_sum_in_rows():
    design = design_of(50)
    assert noise_in_radii(np.full(50, 3.0), design) == pytest.approx(np.sqrt(2 * 50 / float(design.split.sum)))
