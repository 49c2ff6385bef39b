import numpy as np

from plandp.theory.bisection import MedianEvidence, MedianPosterior, _median_evidence

CELLS = np.full(50, 2.0**22)


def searched(medians, *, rounds, noise_std, rows=1000, rng):
    """Search medians of columns whose rows all lie in one cell, with noisy counts."""
    posterior = MedianPosterior.uniform(CELLS)
    asked = []
    for _ in range(rounds):
        threshold = posterior.next_threshold()
        asked.append(threshold)
        count = np.where(medians < threshold, float(rows), 0.0) + noise_std * rng.standard_normal(len(medians))
        posterior = posterior.updated(threshold, MedianEvidence(rows=rows, noise_std=noise_std)(count))
    return posterior, np.array(asked)


def test_the_search_finds_single_cells_of_a_large_lattice():
    # 22 bits to find with 48 counts of noise n/5: each count errs with probability 6e-3 alone.  False alarm below 1e-6,
    # estimated from 400 searches without a miss and misses that fall by 1/2 a round.
    rng = np.random.default_rng(0)
    medians = np.floor(rng.random(len(CELLS)) * CELLS)
    posterior, _ = searched(medians, rounds=48, noise_std=200.0, rng=rng)
    assert np.all(np.floor(posterior.median()) == medians)


def test_both_ends_of_the_lattice_can_be_found():
    medians = np.where(np.arange(len(CELLS)) % 2 == 0, 0.0, CELLS - 1.0)
    posterior, _ = searched(medians, rounds=40, noise_std=10.0, rng=np.random.default_rng(1))
    assert np.all(np.floor(posterior.median()) == medians)


def test_thresholds_are_lattice_points_strictly_inside_the_range():
    rng = np.random.default_rng(2)
    _, asked = searched(np.floor(rng.random(len(CELLS)) * CELLS), rounds=60, noise_std=300.0, rng=rng)
    assert np.all(asked == np.floor(asked))
    assert np.all((asked > 0) & (asked < CELLS))


def test_the_first_thresholds_are_no_round_numbers():
    # Bounds and spikes like halves, quarters and tenths of the range: none of them may be the first threshold.
    first = MedianPosterior.uniform(CELLS).next_threshold()
    halvings = np.arange(1, 40)[:, None] / np.array([2.0, 4.0, 8.0, 10.0, 20.0])
    distance = np.abs(first[:, None, None] / CELLS[0] - halvings).min(axis=(1, 2))
    assert np.median(distance) > 1e-3
    assert len(np.unique(first)) > len(CELLS) // 2  # and not the same for all columns


def test_a_lone_cell_is_asked_about_again_at_one_of_its_ends():
    posterior = MedianPosterior(np.array([[0.0, 7.0, 8.0, 16.0]]), np.array([[0.1, 0.8, 0.1]]))
    assert posterior.next_threshold()[0] in (7.0, 8.0)


def test_masses_stay_a_distribution_and_edges_stay_in_order():
    rng = np.random.default_rng(3)
    posterior, _ = searched(np.floor(rng.random(len(CELLS)) * CELLS), rounds=70, noise_std=1.0, rng=rng)
    np.testing.assert_allclose(posterior.mass.sum(axis=1), 1.0, rtol=1e-12)
    assert np.all(posterior.mass >= 0)
    assert np.all(np.diff(posterior.edges, axis=1) >= 0)


def test_evidence_is_odd_around_half_of_the_rows_and_grows_with_the_count():
    counts = np.linspace(-500.0, 1500.0, 401)
    evidence = MedianEvidence(rows=1000, noise_std=60.0)(counts)
    np.testing.assert_allclose(evidence, -evidence[::-1], atol=1e-9)
    assert np.all(np.diff(evidence) >= -1e-9)
    assert evidence[250] > 0 > evidence[150]


def test_evidence_is_finite_for_any_count():
    counts = np.array([-1e300, -1e9, 0.0, 500.0, 1e9, 1e300])
    assert np.all(np.isfinite(MedianEvidence(rows=1000, noise_std=0.01)(counts)))


def test_the_curve_of_the_evidence_is_close():
    for rows, noise_std in ((1000, 0.7), (1000, 60.0), (5, 40.0), (100_000, 9.0)):
        counts = np.linspace(-4.0 * noise_std, rows + 4.0 * noise_std, 10_007)
        exact = _median_evidence(counts, rows, noise_std)
        read_off = MedianEvidence(rows=rows, noise_std=noise_std)(counts)
        close = np.abs(read_off - exact) < 1e-3
        assert np.all(
            close | ((np.abs(exact) > 40.0) & (np.abs(read_off) > 40.0) & (np.sign(exact) == np.sign(read_off)))
        )
