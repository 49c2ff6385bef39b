"""The exchangeable parts of plan-classic, one by one."""

from fractions import Fraction
from math import log, sqrt

import numpy as np
import pytest

import plandp
from plandp import classic
from plandp.classic.guards import rows_to_clip
from plandp.classic.noised_rows import NoisedRows
from plandp.classic.parts import Parts
from plandp.classic.search_lattice import search_lattice
from plandp.classic.spread import SpreadSearch
from plandp.data.open import open_rows
from plandp.methods import plan_classic
from plandp.noise.meter import open_door
from plandp.planner.classic import classic_design
from plandp.terms.columns import read_columns
from plandp.terms.design import Design

SPREAD = np.array([1.0, 2.0, 6.0])


def design_of(n: int = 5000, d: int = 3, rho: str = "50", **arguments: object) -> Design:
    columns = read_columns(labels=range(d), bounds=(-100, 100), **arguments)  # type: ignore[arg-type]
    return classic_design(n=n, columns=columns, rho=Fraction(rho), error_norm=2.0)


def test_grids_have_a_power_of_two_of_cells_no_wider_than_asked() -> None:
    low, high = np.array([-1.0, 0.0]), np.array([1.0, 96.0])
    lattice = search_lattice(low, high, np.array([0.5, 1.0]))
    assert lattice.cells.tolist() == [128.0, 128.0]
    assert (lattice.step * lattice.cells == high - low).all()
    assert search_lattice(low, high, np.full(2, 1e-300)).cells.tolist() == [2.0**50] * 2
    assert search_lattice(low, high, np.full(2, 1e300)).cells.tolist() == [2.0, 2.0]


# --- spreads


@pytest.mark.parametrize(
    ("part", "off"),
    [
        (classic.Direct(), 1.0),
        (classic.Direct(share=0.75), 0.6745),  # as the paper: no factor
        (classic.Direct(share=0.9), 1.2816),
        (classic.Direct(share=0.75, normal=True), 1.0),
        (classic.Direct(share=0.9, normal=True), 1.0),
        (classic.SumOfSquares(), 1.0),
    ],
    ids=str,
)
def test_spreads_of_gaussian_columns_are_found_up_to_the_factor(part: classic.Direct, off: float) -> None:
    # quantiles of 60,000 numbers err by 0.9% (standard deviation): 6% is seven of them, and factors are further apart
    table = np.random.default_rng(1).normal(7, SPREAD, (60_000, 3))
    table[::50, 1] = np.nan
    design = design_of(n=60_000, rho="2000")
    door = open_door(reserved=Fraction(2000), testing_seed=1)
    search = SpreadSearch(
        center=np.full(3, 7.0),
        finest=np.full(3, 0.01),
        quantile=classic.ExponentialMechanism(),
        design=design,
        noise=door,
    )
    found = part(open_rows(table), search)
    np.testing.assert_allclose(found / SPREAD, off, rtol=0.06)
    assert door.spent == design.split.spread


def test_equal_spreads_cost_nothing() -> None:
    design = design_of()
    door = open_door(reserved=Fraction(1), testing_seed=1)
    quantile = classic.BinarySearch()
    search = SpreadSearch(center=None, finest=np.ones(3), quantile=quantile, design=design, noise=door)
    found = classic.Equal()(open_rows(np.zeros((9, 3))), search)
    assert found.tolist() == [1.0] * 3
    assert not door.payments


def test_regularisers_are_those_of_the_paper() -> None:
    assert classic.PlusMean()(SPREAD).tolist() == [4.0, 5.0, 9.0]
    assert classic.TwicePlusMean()(SPREAD).tolist() == [5.0, 7.0, 15.0]
    assert classic.Unregularised()(SPREAD).tolist() == SPREAD.tolist()


# --- universe


def test_universes() -> None:
    def universe(part: classic.Concentrated, p: float = 2.0, n: int = 1000) -> float:
        return part(spread=SPREAD, stretch=SPREAD ** (2 / (p + 2)), longest=100.0, n=n, error_norm=p)

    assert universe(classic.LongestRow()) == 100.0
    assert universe(classic.Concentrated()) == pytest.approx(sqrt(log(1000) * log(10) * 9.0))
    by_p = (SPREAD ** (2 / 3)).sum()
    assert universe(classic.Concentrated(), p=1.0) == pytest.approx(sqrt(log(1000) * log(10) * by_p))
    assert universe(classic.Concentrated(failure_probability=1e-300), n=10**9) == pytest.approx(100.0)
    assert universe(classic.Concentrated(), n=1) > 0
    assert universe(classic.ItemsAsPrinted()) == pytest.approx(np.linalg.norm(SPREAD ** (2 / 3)))


def test_the_printed_universe_of_items_is_shorter_than_ordinary_rows() -> None:
    # half of the items of a balanced row are there, each stretched by σ^(-2/3), σ = ½
    spread = np.full(1000, 0.5)
    ordinary = sqrt(500) * 0.5 ** (-2 / 3)
    arguments = {"spread": spread, "stretch": spread ** (2 / 3), "n": 100, "error_norm": 1.0}
    longest = sqrt(1000) * 0.5 ** (-2 / 3)
    assert classic.ItemsAsPrinted()(longest=longest, **arguments) < 0.6 * ordinary
    assert classic.LongestRow()(longest=longest, **arguments) > ordinary


def test_k_is_root_n_and_the_rank_error_and_at_most_half_of_the_rows() -> None:
    parts = Parts(failure_probability=0.3)
    design = design_of(n=10_000)
    rank_error = parts.quantile.rank_error(cells=1024.0, columns=1, rho=float(design.split.radius), failure=0.1)
    assert rows_to_clip(cells=1024.0, design=design, parts=parts) == pytest.approx(100 + rank_error)
    assert rows_to_clip(cells=1024.0, design=design_of(n=3, rho="1/1000"), parts=parts) == 1.5


# --- small spreads


def test_how_fine_the_search_is() -> None:
    design = design_of(smallest_spread=0.5)
    assert classic.SmallestThatMatters().finest(None, design).tolist() == [0.125] * 3
    assert classic.FinerSearch(tau=1).finest(None, design).tolist() == [1.0] * 3
    assert classic.UnitNoise(scale=2.0).finest(None, design).tolist() == [2.0] * 3
    assert classic.RescaledBySmallest().finest(SPREAD, design).tolist() == [1.0] * 3
    assert classic.RescaledBySmallest().finest(None, design).tolist() == [0.125] * 3
    assert (classic.FinerSearch(tau=1e-300).finest(None, design) == 200 * 2.0**-45).all()


def test_unit_noise_is_public_the_same_in_every_pass_and_by_row_number() -> None:
    table = np.random.default_rng(2).normal(0, 1e-3, (40, 3))
    table[3] = [np.nan, np.inf, 5.0]
    design = design_of(n=40)
    rows, wider = classic.UnitNoise(scale=0.5).prepared(
        open_rows(table), design, open_door(reserved=Fraction(1), testing_seed=1)
    )
    again, _ = classic.UnitNoise(scale=0.5).prepared(
        open_rows(table[::-1]), design, open_door(reserved=Fraction(1), testing_seed=1)
    )
    assert isinstance(rows, NoisedRows)
    assert isinstance(again, NoisedRows)
    np.testing.assert_array_equal(rows.noise, again.noise)
    one, two = (np.concatenate(list(rows.blocks())) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, np.clip(table, -100, 100) + rows.noise)
    assert (wider.columns.low <= -100 + rows.noise.min(axis=0)).all()
    assert (wider.columns.high >= 100 + rows.noise.max(axis=0)).all()
    assert rows.noise.std() == pytest.approx(0.5, rel=0.3)  # 120 draws: within 30% but for one seed in 10^5
    np.testing.assert_array_equal(np.concatenate(list(rows.sample(np.array([1, 7])).blocks())), one[[1, 7]])


def test_unit_noise_makes_constant_columns_ordinary() -> None:
    table = np.full((4000, 2), 3.25)
    release = plandp.mean(
        table, bounds=(-10, 10), rho=20, method=plan_classic(small_spread=classic.UnitNoise()), testing_seed=1
    )
    assert release.spread is not None
    np.testing.assert_allclose(release.spread, 1.0, rtol=0.2)
    assert np.abs(release.estimate - 3.25).max() < 0.15  # the noise's own mean is .016, the release's noise .01


# --- together


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"spread": "pairs"}, "spread"),
        ({"spread": classic.Pairs}, "spread"),
        ({"quantile": lambda: None}, "quantile"),
        ({"small_spread": classic.Pairs()}, "small_spread"),
        ({"failure_probability": 1}, "failure_probability"),
        ({"failure_probability": 5e-324}, "failure_probability"),  # a third of it is 0
        ({"small_spread": classic.RescaledBySmallest(), "spread": classic.Direct()}, "small_spread"),
    ],
    ids=lambda value: str(value).partition(" at ")[0],
)
def test_parts_that_do_not_fit_are_refused(arguments: dict, argument: str) -> None:
    with pytest.raises(plandp.ArgumentError) as raised:
        plan_classic(**arguments)
    assert raised.value.argument == argument


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: classic.Direct(share=0.5), "share"),
        (lambda: classic.FinerSearch(tau=0), "tau"),
        (lambda: classic.UnitNoise(scale=float("inf")), "scale"),
        (lambda: classic.Concentrated(failure_probability=1.5), "failure_probability"),
    ],
)
def test_numbers_that_no_part_takes_are_refused(make: object, argument: str) -> None:
    with pytest.raises(plandp.ArgumentError) as raised:
        make()  # type: ignore[operator]
    assert raised.value.argument == argument


@pytest.mark.parametrize("rho", ["1e-12", 1, 10**6])
def test_unit_noise_beyond_float64_is_refused_by_public_numbers(rho: object) -> None:
    wide = {"bounds": (-(2.0**599), 2.0**599), "error_scale": "bounds"}
    for scale, table in ((2.0**430, np.zeros((20, 2))), (2.0**499, np.full((20, 2), np.nan))):
        method = plan_classic(small_spread=classic.UnitNoise(scale=scale))
        with pytest.raises(plandp.ArgumentError) as raised:
            plandp.mean(table, rho=rho, method=method, testing_seed=1, **wide)  # type: ignore[arg-type]
        assert raised.value.argument == "scale"
    method = plan_classic(small_spread=classic.UnitNoise(scale=2.0**499))
    assert np.isfinite(
        plandp.mean(np.zeros((20, 2)), bounds=(-1, 1), rho=1, method=method, testing_seed=1).estimate
    ).all()
