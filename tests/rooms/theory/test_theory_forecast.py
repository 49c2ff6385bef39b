"""Expected errors: the median of a norm of noise, and the noise that a run reports."""

from fractions import Fraction

import numpy as np
import pytest

import plandp
from plandp.planner.split import gaussian_design, plan_design
from plandp.terms.columns import read_columns
from plandp.theory.box import box_spread
from plandp.theory.forecast import expect_box, expect_shaped, expect_unshaped, median_error
from plandp.theory.stretch import noise_error, optimal_stretch

SHAPES = [[1.0], [1.0, 1.0], [1.0, 0.1, 0.1], (1 / np.arange(1, 65)).tolist(), [1.0] * 200]


@pytest.mark.parametrize("shape", SHAPES, ids=len)
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, 10.0, 40.0])
def test_half_of_all_noise_is_smaller_than_the_median(shape, p):
    # 20,000 draws: the sampled median is known to 1%; seeds are fixed
    noise_std = np.array(shape)
    noise = np.abs(np.random.default_rng(0).normal(size=(20_000, len(shape))) * noise_std)
    sampled = np.median(noise.max(axis=1) * ((noise / noise.max(axis=1, keepdims=True)) ** p).sum(axis=1) ** (1 / p))
    assert (0.97 if p <= 2 else 0.875) < median_error(noise_std, p) / sampled < 1.03


def test_the_median_of_one_column_is_that_of_a_gaussian():
    assert all(abs(median_error(np.array([3.0]), p) / 3.0 - 0.6745) < 0.005 for p in (1.0, 2.0, 7.0, 100.0))


def test_the_median_is_below_the_root_mean_power_of_the_forecast():
    for shape in SHAPES:
        for p in (1.0, 2.0, 5.0):
            assert median_error(np.array(shape), p) <= 1.001 * noise_error(np.array(shape), p)


def test_large_norms_do_not_overflow():
    for scale in (1e-200, 1.0, 1e200):
        assert 0 < median_error(scale * np.array([1.0, 1e-30]), 1e6) < np.inf


@pytest.mark.parametrize("bounds", [[(0, 100)] * 3, [(0, 1), (-50, 50), (10, 20)]])
@pytest.mark.parametrize("p", [1.0, 2.0])
def test_the_noise_of_the_box_is_what_the_gaussian_mechanism_adds(bounds, p):
    columns = read_columns(labels=range(3), bounds=bounds)
    design = gaussian_design(n=1000, columns=columns, rho=Fraction(1, 3), error_norm=p)
    table = np.array([[low, high, (low + high) / 2] for low, high in bounds]).T.repeat(334, axis=0)[:1000]
    release = plandp.mean(table, bounds=bounds, rho="1/3", method="gaussian", error_norm=p, testing_seed=1)
    assert np.allclose(expect_box(design).noise_std, release.noise_std, rtol=1e-3)


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_the_noise_of_known_spreads_is_about_what_a_run_adds(p):
    # the run finds its radius with noise: a few percent; the shape is the same up to what clipping leaves
    spread = np.geomspace(1, 50, 30)
    columns = read_columns(labels=range(30), bounds=(-5000, 5000), spread=spread.tolist())
    design = plan_design(n=8000, columns=columns, rho=Fraction(1, 2), error_norm=p)
    table = np.random.default_rng(0).normal(100, spread, (8000, 30))
    release = plandp.mean(table, bounds=(-5000, 5000), rho="1/2", spread=spread, error_norm=p, testing_seed=1)
    ratio = expect_shaped(spread, design).noise_std / release.noise_std
    assert 0.9 < ratio.min() <= ratio.max() < 1.1


def test_no_noise_is_expected_beyond_that_of_the_box():
    columns = read_columns(labels=range(4), bounds=(0, 1), spread=0.5)
    design = plan_design(n=5000, columns=columns, rho=Fraction(1), error_norm=2.0)
    box = expect_box(design).noise_std
    assert np.array_equal(expect_shaped(np.full(4, 0.5), design).noise_std, box)
    stretch = optimal_stretch(box_spread(columns), 2.0)
    assert np.array_equal(expect_unshaped(np.full(4, 9.0), stretch, design).noise_std, box)


def test_errors_scale_with_the_spreads():
    columns = read_columns(labels=range(20), bounds=(-1e6, 1e6))
    design = plan_design(n=10_000, columns=columns, rho=Fraction(1), error_norm=2.0)
    one, ten = (expect_shaped(size * np.arange(1.0, 21.0), design).error_std for size in (1.0, 10.0))
    assert np.allclose(ten, 10 * one)
