"""IOME: errors as measured for its authors' code, any number of columns, items, and memory of public size."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

import plandp
from plandp.mechanisms import viewed_keys
from plandp.mechanisms.rotated import Rotation
from plandp.methods import iome
from plandp.noise.meter import open_door
from plandp.terms.columns import read_columns
from plandp.theory.iome import padded, published_reach, rotated_reach, rows_beyond

AS_PUBLISHED = iome(steps=10, offset=1, radius_share=Fraction(1, 4))


def noise_errors(n: int, d: int, rho: float, runs: int, method: object = "iome", wider: float = 1.0) -> list[float]:
    """Gaussian A of the paper: distance to the empirical mean."""
    rng = np.random.default_rng(d)
    bound = wider * 25 * math.sqrt(d)
    errors = []
    for seed in range(runs):
        table = rng.normal(0, 1, (n, d))
        release = plandp.mean(table, bounds=(-bound, bound), rho=rho, method=method, testing_seed=seed)
        errors.append(float(np.linalg.norm(release.estimate - table.mean(axis=0))))
    return errors


@pytest.mark.parametrize(("d", "rho", "measured"), [(64, 1.0, 0.031), (64, 0.125, 0.082), (512, 1.0, 0.223)])
def test_errors_are_those_of_the_authors_code(d: int, rho: float, measured: float) -> None:
    # Medians of 20 runs of the corrected code of its authors; ours of 9 have a standard error of 3%.  The radius alone
    # for 2C would show as a factor of ½ or 2, another split as 15%.
    assert np.median(noise_errors(4000, d, rho, 9)) == pytest.approx(measured, rel=0.13)


def test_the_correction_of_steps_matters_in_wide_bounds() -> None:
    # Ten halvings of bounds of ±2000 spreads leave cells far wider than the rows: the paper's reason for twenty.
    ten, twenty = (noise_errors(4000, 64, 1.0, 3, method, wider=10) for method in (AS_PUBLISHED, iome()))
    assert min(ten) > 5 * max(twenty)
    assert max(twenty) < 0.045


def test_the_published_universe_finds_medians_that_the_box_is_too_wide_for() -> None:
    # Gaussian A at d = 1024, ρ = .125: 1.366 is published, to the true mean, 1.27 of it noise; runs are within 4% of
    # each other.  In a wider universe a count has more rounds to be wrong in, and a median that is lost costs more: of
    # 12 runs in the box 2 lost none.
    published, box = (noise_errors(4000, 1024, 0.125, 2, iome(universe=name)) for name in ("published", "box"))
    assert max(published) == pytest.approx(1.27, rel=0.12)
    assert max(box) > 10


def test_the_published_universe_is_that_of_rows_of_norm_m() -> None:
    columns = read_columns(labels=range(16), bounds=(-12, 12))
    assert published_reach(columns) == pytest.approx(12 / 4)
    assert published_reach(read_columns(labels=range(1), bounds=(-12, 12))) == pytest.approx(12)
    halved = read_columns(labels=range(16), bounds=(-12, 12), error_scale=2.0)
    assert published_reach(halved) == pytest.approx(6 / 4)


def test_rows_outside_the_published_universe_count_at_its_end() -> None:
    # All rows in a corner, √d beyond the universe: the centre stays within the bounds, and the release is of its kind.
    table = np.full((2000, 16), 0.9)
    release = plandp.mean(table, bounds=(-1, 1), rho=4, method=iome(universe="published"), testing_seed=1)
    assert np.all(abs(release.center) <= 1)
    assert release.receipt.rho == 4
    assert np.linalg.norm(release.estimate - 0.9) < 0.5  # the radius is found around a centre that is off


def test_the_split_and_the_rank_are_as_published() -> None:
    columns = read_columns(labels=range(50), bounds=(-10, 10))
    published = AS_PUBLISHED.plan(n=4000, columns=columns, rho=Fraction(1), error_norm=2.0)
    assert (published.split.center, published.split.radius, published.split.sum) == (
        Fraction(1, 4),
        Fraction(3, 16),
        Fraction(9, 16),
    )
    rank = 4000 - (2 * math.sqrt(50 / (2 * 9 / 16)) + math.sqrt(10 / (2 * 3 / 16)))
    assert 4000 - rows_beyond(published, 1.0) == pytest.approx(rank)
    corrected = iome().plan(n=4000, columns=columns, rho=Fraction(1), error_norm=2.0)
    assert corrected.center_rounds == 20
    rank = 4000 - (4 * math.sqrt(50 / (2 * 0.7425)) + 2 * math.sqrt(20 / (2 * 0.0075)))
    assert 4000 - rows_beyond(corrected, 2.0) == pytest.approx(rank)
    assert rows_beyond(iome().plan(n=10, columns=columns, rho=Fraction(1), error_norm=2.0), 2.0) == 5.0


@pytest.mark.parametrize("d", [1, 2, 3, 5, 33])
def test_any_number_of_columns_and_unequal_units(d: int) -> None:
    rng = np.random.default_rng(d)
    unit = 10.0 ** np.arange(d) if d < 9 else np.ones(d)
    table = (rng.normal(3, 1, (2000, d))) * unit
    table[5] = np.nan
    bounds = [(-20 * u, 30 * u) for u in unit]
    release = plandp.mean(table, bounds=bounds, error_scale="bounds", rho=4, method="iome", testing_seed=1)
    assert np.allclose(release.estimate / unit, 3.0, atol=0.5)
    assert release.receipt.rho == 4
    assert {payment.values for payment in release.receipt.payments if payment.step == "center"} == {padded(d)}


def test_streamed_and_held_keys_give_the_same_release(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(5).normal(0, 1, (300, 5))
    arguments = {"bounds": (-10, 10), "rho": 4, "method": "iome", "testing_seed": 1}
    held = plandp.mean(table, **arguments)
    monkeypatch.setattr(viewed_keys, "HELD", 0)
    streamed = plandp.mean(table, **arguments)
    assert held.estimate.tobytes() == streamed.estimate.tobytes()
    assert held.receipt.payments == streamed.receipt.payments
    assert streamed.receipt.passes > held.receipt.passes


def test_items_are_a_table_of_zeros_and_ones() -> None:
    table = (np.random.default_rng(6).random((400, 5)) < [0.5, 0.1, 0.9, 0.0, 0.3]).astype(float)
    dense = plandp.mean(table, bounds=(0, 1), rho=4, method="iome", testing_seed=1)
    sparse = plandp.mean(csr_array(table), kind="binary", rho=4, method="iome", testing_seed=1)
    assert sparse.estimate.tobytes() == dense.estimate.tobytes()
    assert sparse.kind == "binary"


@pytest.mark.parametrize("d", [8, 64, 1000])
def test_rotated_rows_stay_within_their_universe(d: int) -> None:
    # For any fixed vector the bound fails for 1 rotation in 2^20: corners, one coordinate, and random rows.
    columns = read_columns(labels=range(d), bounds=(-3, 3))
    table = np.vstack([np.full(d, 3.0), np.eye(d)[0] * 3.0, np.random.default_rng(d).choice([-3.0, 3.0], (20, d))])
    door = open_door(reserved=Fraction(1), testing_seed=1)
    largest = max(np.abs(Rotation.drawn(d, door)(table)).max() for _ in range(50))
    reach = rotated_reach(columns)
    assert largest <= reach * (1 + 1e-12)
    assert reach <= 3 * math.sqrt(d) * (1 + 1e-12)
    assert d < 64 or reach < 3 * 7.5  # not much wider than the authors' own


def test_public_numbers_warn_of_too_few_rows() -> None:
    table = np.zeros((50, 40))
    release = plandp.mean(table, bounds=(-1, 1), rho=0.01, method="iome", testing_seed=1)
    assert any("medians of the rotated columns" in warning for warning in release.warnings)
    assert any("half of them were clipped" in warning for warning in release.warnings)
    assert plandp.mean(np.zeros((5000, 4)), bounds=(-1, 1), rho=1, method="iome", testing_seed=1).warnings == ()


@pytest.mark.parametrize(
    "wrong",
    [
        *({"steps": 0}, {"steps": 46}, {"steps": 20.0}, {"offset": -1}, {"offset": float("nan")}, {"offset": "2"}),
        *({"radius_share": 0.25}, {"radius_share": Fraction(0)}, {"radius_share": Fraction(3, 4)}),
        *({"universe": "ball"}, {"universe": None}, {"universe": []}),
    ],
)
def test_other_parameters_are_refused(wrong: dict) -> None:
    with pytest.raises(plandp.ArgumentError):
        iome(**wrong)


def test_a_share_of_numpy_integers_is_taken_exactly() -> None:
    one, other = (
        plandp.mean(np.zeros((300, 2)), bounds=(-1, 1), rho=1, method=iome(radius_share=share), testing_seed=1)
        for share in (Fraction(1, 100), Fraction(np.int64(1), np.int64(100)))
    )
    assert one.receipt.payments == other.receipt.payments


def test_a_share_that_overflows_where_it_is_compared_is_refused() -> None:
    nearly_all = Fraction(np.int64(4763696168732145433), np.int64(4763696168732145434))
    with pytest.raises(plandp.ArgumentError, match="radius_share"):
        iome(radius_share=nearly_all)
