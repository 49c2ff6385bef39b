"""plan-classic as a whole: the paper's budget, its error where it works, its warnings where it does not, and items."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

import plandp
from plandp import classic
from plandp.methods import PLAN_CLASSIC, plan_classic

RNG = np.random.default_rng(1)
SPREAD = np.geomspace(0.5, 20, 12)
TABLE = RNG.normal(10, SPREAD, (4000, 12))


def released(method: object = "plan-classic", **arguments: object) -> plandp.MeanRelease:
    given = {"bounds": (-1000, 1000), "rho": 4, "smallest_spread": 0.05, "testing_seed": 1} | arguments
    return plandp.mean(TABLE, method=method, **given)  # type: ignore[arg-type]


def test_the_receipt_shows_the_budget_of_the_paper() -> None:
    release = released(rho="1/3")
    shares = {step.step: step.rho * 3 for step in release.receipt.steps()}
    sixteenth = Fraction(1, 16)
    assert shares == {"center": sixteenth, "spread": 3 * sixteenth, "radius": 3 * sixteenth, "sum": 9 * sixteenth}
    assert release.receipt.method == "plan-classic"
    assert release.receipt.passes == 4
    given = released(rho="1/3", spread=SPREAD)
    assert [step.rho * 3 for step in given.receipt.steps()] == [4 * sixteenth, 3 * sixteenth, 9 * sixteenth]
    assert given.spread is not None
    np.testing.assert_allclose(given.spread, SPREAD)


EVERY_PART = {
    "as it comes": {},
    "binary search": {"quantile": classic.BinarySearch()},
    "upper end": {"quantile": classic.BinarySearch(answer="upper end")},
    "groups": {"spread": classic.Pairs(groups=4)},
    "copies": {"spread": classic.Pairs(copies=3)},
    "direct": {"spread": classic.Direct()},
    "equal": {"spread": classic.Equal()},
    "twice": {"regulariser": classic.TwicePlusMean()},
    "plain": {"regulariser": classic.Unregularised()},
    "longest": {"universe": classic.LongestRow()},
    "tau": {"small_spread": classic.FinerSearch(tau=0.2)},
    "rescaled": {"small_spread": classic.RescaledBySmallest()},
    "unit noise": {"small_spread": classic.UnitNoise(scale=0.5)},
}


@pytest.mark.parametrize("p", [1, 2, 3.5])
@pytest.mark.parametrize("parts", EVERY_PART.values(), ids=EVERY_PART.keys())
def test_every_part_finds_the_mean(parts: dict, p: float) -> None:
    release = released(plan_classic(**parts), error_norm=p)
    assert release.receipt.rho == 4
    # twelve columns within 5 standard deviations of noise and what clipping and unit noise may add
    off = np.abs(release.estimate - TABLE.mean(axis=0))
    assert (off < 5 * release.noise_std + 0.1 * SPREAD + 0.05).all()


def test_the_noise_follows_the_paper() -> None:
    # line 7: N(0, 2C²/ρ₃) on the sum of stretched rows, stretched back by (σ̂ + mean σ̂)^(2/(p+2))
    release = released()
    assert release.spread is not None
    s = np.sqrt(release.spread + release.spread.mean())
    np.testing.assert_allclose(
        release.noise_std, release.radius * np.sqrt(2 / (4 * 9 / 16)) * s / len(TABLE), rtol=1e-3
    )


def test_the_error_is_about_that_of_the_authors_with_accounting_corrected() -> None:
    # Gaussian A, d = 64, ρ = 1: .035 (median); five runs, each within 15% but for one seed in a thousand
    table = np.random.default_rng(3).normal(0, 1, (4000, 64))
    errors = [
        np.linalg.norm(
            plandp.mean(
                table, bounds=(-200, 200), rho=1, smallest_spread=1 / 16, method=PLAN_CLASSIC, testing_seed=s
            ).estimate
            - table.mean(axis=0)
        )
        for s in range(5)
    ]
    assert np.median(errors) == pytest.approx(0.036, rel=0.15)


def test_it_says_beforehand_when_ranks_are_hopeless() -> None:
    release = plandp.mean(TABLE[:100], bounds=(-1000, 1000), rho=0.1, method="plan-classic", testing_seed=1)
    assert sum("may be off by" in warning for warning in release.warnings) == 2
    assert not any("may be off by" in warning for warning in released(rho=400).warnings)


def test_check_knows_the_method() -> None:
    public = {"n": 4000, "d": 12, "bounds": (-1000, 1000), "method": "plan-classic", "smallest_spread": 0.05}
    fine = plandp.check(rho=40, spread=SPREAD, **public)
    release = released(rho=40, spread=SPREAD)
    assert fine.error == pytest.approx(release.forecast.error, rel=0.2)


def test_rows_far_beyond_the_spreads_are_warned_of() -> None:
    table = TABLE.copy()
    table[:1500, 0] = 900.0
    release = plandp.mean(
        table, bounds=(-1000, 1000), rho=40, spread=SPREAD, smallest_spread=0.05, method=PLAN_CLASSIC, testing_seed=1
    )
    assert any("end of its range" in warning for warning in release.warnings)


# --- items


SHARES = np.concatenate([np.full(10, 0.5), np.full(90, 0.02)])
BASKETS = (RNG.random((3000, 100)) < SHARES).astype(float)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"quantile": classic.BinarySearch()},
        {"item_spread": classic.EqualItems()},
        {"item_spread": classic.ItemVariance(floor=False)},
        {"regulariser": classic.Unregularised()},
        {"item_universe": classic.Concentrated()},
    ],
    ids=str,
)
def test_items_are_found(parts: dict, p: float) -> None:
    release = plandp.mean(
        csr_array(BASKETS), kind="binary", rho=20, error_norm=p, method=plan_classic(**parts), testing_seed=1
    )
    assert release.receipt.rho == 20
    off = np.abs(release.estimate - BASKETS.mean(axis=0))
    assert (off < 5 * release.noise_std + 0.02 * BASKETS.mean(axis=0) + 1e-4).all()  # k rows of 3000 are clipped
    assert release.kind == "binary"
    assert release.refined == ()


def test_items_get_the_same_release_from_every_container() -> None:
    estimates = [
        plandp.mean(table, kind="binary", rho=2, method="plan-classic", testing_seed=1).estimate
        for table in (BASKETS, csr_array(BASKETS), csr_array(BASKETS.astype(np.int8)).tocsc())
    ]
    np.testing.assert_array_equal(estimates[0], estimates[1])
    np.testing.assert_array_equal(estimates[0], estimates[2])


def test_the_budget_of_items_is_for_variances_radius_and_noise() -> None:
    release = plandp.mean(BASKETS, kind="binary", rho=1, method="plan-classic", testing_seed=1)
    steps = {step.step: step.rho for step in release.receipt.steps()}
    assert steps == {"spread": Fraction(1, 4), "radius": Fraction(3, 16), "sum": Fraction(9, 16)}
    assert release.spread is not None
    assert release.spread.min() >= 100**-0.2  # the floor d^(-2/5) of variances


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"kind": "nonnegative", "bounds": (0, 9)}, "method"),
        ({"kind": "binary", "refine": ()}, "refine"),
        ({"kind": "binary", "method": "gaussian"}, "method"),
    ],
    ids=str,
)
def test_what_items_cannot_be_asked_is_refused(arguments: dict, argument: str) -> None:
    with pytest.raises(plandp.ArgumentError) as raised:
        plandp.mean(BASKETS, rho=1, **({"method": "plan-classic"} | arguments))
    assert raised.value.argument == argument
