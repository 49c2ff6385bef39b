import numpy as np

from plandp.theory.moment_prior import posterior_moments


def test_nothing_changes_without_noise():
    true = np.exp(np.random.default_rng(0).uniform(-4, 4, 300))
    # the grid of the prior has steps of 30%, so that "exact" means within one step
    assert np.max(np.abs(np.log(posterior_moments(true, 1e-3 * true) / true))) < 0.17


def test_posterior_means_beat_the_noisy_moments():
    # Zipf moments under equal noise, 20 tables of 256.  Squared errors fall to .23 of the raw ones; half would be some
    # 20 standard errors away.  Power: a prior that is not learned, a wrong sign, the wrong noise.
    true = 256.0 / np.arange(1, 257)
    raw, posterior = 0.0, 0.0
    for seed in range(20):
        noise_std = np.full(256, 10.0)
        noisy = true + noise_std * np.random.default_rng(seed).standard_normal(256)
        found = posterior_moments(noisy, noise_std)
        raw += float(((noisy - true) ** 2).sum())
        posterior += float(((found - true) ** 2).sum())
    assert posterior < 0.5 * raw


def test_equal_moments_are_recognised_as_such():
    # Moments of 1 under noise of .5: the learned prior leaves .07, a flat one .53.  False alarm at .2: far below 1e-6.
    noisy = 1.0 + 0.5 * np.random.default_rng(4).standard_normal(256)
    found = posterior_moments(noisy, np.full(256, 0.5))
    assert np.sqrt(np.mean((found - 1.0) ** 2)) < 0.2


def test_moments_come_out_positive_even_where_the_noise_says_otherwise():
    rng = np.random.default_rng(1)
    found = posterior_moments(rng.standard_normal(500), np.ones(500))
    assert np.all(found > 0)
    assert found.mean() < 0.5  # and small: nothing but noise was seen


def test_one_column_and_very_many_columns_work():
    assert abs(posterior_moments(np.array([4.0]), np.array([0.01]))[0] / 4.0 - 1.0) < 0.17
    true = np.exp(np.random.default_rng(2).uniform(-1, 1, 5000))
    assert np.max(np.abs(np.log(posterior_moments(true, 1e-3 * true) / true))) < 0.17


def test_units_do_not_matter():
    rng = np.random.default_rng(3)
    noisy, noise_std = np.exp(rng.standard_normal(100)) + rng.standard_normal(100), np.ones(100)
    np.testing.assert_allclose(
        posterior_moments(1e6 * noisy, 1e6 * noise_std), 1e6 * posterior_moments(noisy, noise_std), rtol=1e-6
    )
