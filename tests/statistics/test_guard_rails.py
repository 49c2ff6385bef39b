"""Each warning fires in a case made for it, and all are silent on healthy data.

Silence: 30 releases of Gaussian tables.  Lost centres are planned for .01 times a release, so other seeds would give a
false alarm with probability .3 at most; the limits of the other guards lie far from what healthy tables show.
"""

import numpy as np
import pytest

import plandp
import plandp.algorithm

HEALTHY = {
    "one column": (4000, np.ones(1)),
    "few columns": (10_000, np.ones(3)),
    "equal columns": (4000, np.ones(20)),
    "skewed columns": (10_000, 64.0 / np.arange(1, 65)),
    "many columns": (6000, np.ones(300)),
    "all columns constant": (4000, np.zeros(5)),
    "one column constant": (10_000, np.array([3.0, 0.0, 1.0])),
}


def gaussian_table(n, spread, seed):
    return np.random.default_rng(seed).standard_normal((n, len(spread))) * spread + 10.0


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_tables_raise_no_warning(name):
    n, spread = HEALTHY[name]
    for seed in range(6):
        release = plandp.mean(gaussian_table(n, spread, seed), bounds=(-1000, 1000), rho=0.5, testing_seed=seed)
        assert release.warnings == (), seed


@pytest.mark.parametrize("column", [0, 7, 19])
def test_a_lost_centre_is_named(monkeypatch, column):
    found = plandp.algorithm.private_center

    def one_lost(sample, design, noise):
        center = found(sample, design, noise)
        center.value[column] += 50.0
        return center

    monkeypatch.setattr(plandp.algorithm, "private_center", one_lost)
    for seed in range(3):
        table = gaussian_table(4000, np.ones(20), seed)
        release = plandp.mean(table, bounds=(-1000, 1000), rho=1, testing_seed=seed)
        (warning,) = (text for text in release.warnings if "lost" in text)
        assert f"the centre of 1 column(s) was probably lost ({column})" in warning


@pytest.mark.parametrize("method", ["plan", "unscaled"])
@pytest.mark.parametrize("columns", [1, 4])
def test_columns_of_nothing_but_missing_values_are_named(method, columns):
    # Noise alone passes a column over with probability .005, and two of 4 in one of 16 releases with .002.
    for seed in range(4):
        release = plandp.mean(np.full((4000, columns), np.nan), bounds=(0, 1), rho=1, method=method, testing_seed=seed)
        (warning,) = (text for text in release.warnings if "nothing but missing" in text)
        assert int(warning.partition(" column(s) seem to hold")[0]) >= max(1, columns - 1)


@pytest.mark.parametrize("n", [4000, 20_000])
def test_a_column_of_nothing_but_missing_values_is_named_among_others(n):
    # 118 of 120 such releases named it, and none another one.  That fewer than 6 of 8 do has probability 2e-4.
    # Power: counts that never pass for halves name nobody, and ones that always do name the constant column as well.
    named = []
    for seed in range(8):
        table = gaussian_table(n, np.array([3.0, 1.0, 0.0, 0.02]), seed)
        table = np.column_stack([table, np.full(n, np.nan), np.random.default_rng(seed).random(n) < 0.5])
        bounds = [(-50, 50)] * 4 + [(0, 1)] * 2
        release = plandp.mean(table, bounds=bounds, error_scale="bounds", rho=0.1, testing_seed=seed)
        named += [text for text in release.warnings if "nothing but missing" in text]
    assert len(named) >= 6
    assert all("missing values (4): " in text for text in named)


@pytest.mark.parametrize("rho", [0.1, 10])
def test_constant_columns_in_which_many_values_are_missing_are_not_taken_for_empty_ones(rho):
    # Of 1,200 such columns 13 were named: of 24 more than 3 are with probability 1.3e-4.  Power: where it is enough
    # that counts are likelier one half each than all or nothing, and these are neither, 18 of 24 are.
    named = 0
    for seed in range(12):
        table = gaussian_table(10_000, np.array([0.0, 0.0, 1.0, 1.0, 1.0, 1.0]), seed)
        table[:, :2][np.random.default_rng(seed).random((10_000, 2)) < [0.5, 0.6]] = np.nan
        release = plandp.mean(table, bounds=(-50, 50), rho=rho, testing_seed=seed)
        found = [text for text in release.warnings if "nothing but missing" in text]
        named += sum(int(text.partition(" column(s)")[0]) for text in found)
    assert named <= 3


def test_heavy_tails_are_told():
    for seed in range(5):
        table = np.random.default_rng(seed).standard_t(2, (10_000, 5))
        release = plandp.mean(table, bounds=(-1000, 1000), rho=1, testing_seed=seed)
        assert any("heavy tails" in text for text in release.warnings), seed


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_public_spreads_that_are_far_off_are_told(factor):
    for seed in range(3):
        table = gaussian_table(4000, np.ones(20), seed)
        release = plandp.mean(table, bounds=(-1e6, 1e6), spread=factor, rho=1, testing_seed=seed)
        assert any("end of its range" in text for text in release.warnings), seed


def test_right_public_spreads_are_not():
    for seed in range(3):
        table = gaussian_table(4000, np.ones(20), seed)
        assert plandp.mean(table, bounds=(-1e6, 1e6), spread=1.0, rho=1, testing_seed=seed).warnings == ()


def test_too_few_rows_give_an_answer_and_say_so():
    for seed in range(5):
        table = gaussian_table(30, np.ones(50), seed)
        release = plandp.mean(table, bounds=(-100, 100), rho=0.01, testing_seed=seed)
        assert any("too few rows to find the centres" in text for text in release.warnings), seed
        np.testing.assert_array_equal(release.center, np.zeros(50))
        assert np.all(np.isfinite(release.estimate))


def test_too_few_rows_are_a_public_matter():
    # the same warnings whatever the values are
    tables = (np.zeros((30, 50)), np.full((30, 50), np.nan), gaussian_table(30, np.ones(50), 1))
    said = {plandp.mean(t, bounds=(-100, 100), rho=0.01, testing_seed=1).warnings for t in tables}
    assert len(said) == 1


def test_a_starved_sum_is_told():
    # public: 1000 rows of 100 columns at this rho leave 68% for the sum, 4000 rows leave 93%
    table = gaussian_table(4000, np.ones(100), 0)
    few, many = (plandp.mean(table[:n], bounds=(-100, 100), rho=0.1, testing_seed=0) for n in (1000, 4000))
    assert any("only 70% of rho is left" in text for text in few.warnings)
    assert not any("of rho is left" in text for text in many.warnings)


def test_spreads_that_cannot_be_found_are_told():
    table = gaussian_table(100, np.ones(2), 0)
    release = plandp.mean(table, bounds=(-100, 100), rho=2, testing_seed=0)
    assert any("too few rows to find the spreads" in text for text in release.warnings)
    assert release.spread is None
