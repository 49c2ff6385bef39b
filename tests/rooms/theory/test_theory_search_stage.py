import numpy as np
import pytest

from plandp.theory import search_stage
from plandp.theory.bisection import MedianEvidence, MedianPosterior
from plandp.theory.search_stage import FEWEST_POINTS, MOST_POINTS, Stage, points_of, stages

CELLS = 2.0e6


def searched(d, cells, *, rounds, seed=0):
    """A posterior somewhere in a search."""
    rng, posterior = np.random.default_rng(seed), MedianPosterior.uniform(np.full(d, cells))
    for _ in range(rounds):
        posterior = posterior.updated(posterior.next_threshold(), rng.normal(0.0, 3.0, d))
    return posterior


def shares_below(posterior, thresholds):
    """What the posterior says of each threshold: the share of its mass below."""
    return np.array(
        [
            np.interp(at, edges, np.append(0.0, np.cumsum(mass)))
            for at, edges, mass in zip(thresholds, posterior.edges, posterior.mass, strict=True)
        ]
    )


@pytest.mark.parametrize("cells", [2.0, 3.0, CELLS])
@pytest.mark.parametrize("rounds", [0, 1, 11, 40])
def test_points_cut_the_posterior_into_equal_shares(rounds, cells):
    posterior = searched(7, cells, rounds=rounds)
    points = Stage.of(posterior, 64).points()
    assert np.all(points == np.floor(points))
    assert np.all((points >= 1.0) & (points <= cells - 1.0))
    assert np.all(np.diff(points, axis=1) >= 0.0)
    for place in range(64):
        wanted = (place + 0.5) / 64
        near = shares_below(posterior, points[:, place] - 1.0), shares_below(posterior, points[:, place] + 1.0)
        assert np.all((near[0] - 1e-9 <= wanted) & (wanted <= near[1] + 1e-9))


@pytest.mark.parametrize("cells", [2.0, 3.0, 200.0, CELLS, 2.0**46])
@pytest.mark.parametrize("count", [1, 2, 63, 2048])
def test_thresholds_move_to_the_nearest_of_the_points(cells, count):
    posterior = searched(9, cells, rounds=12)
    stage, rng = Stage.of(posterior, count), np.random.default_rng(1)
    points = stage.points()
    for _ in range(50):
        threshold = np.maximum(1.0, np.floor(rng.random(9) ** 2 * cells))
        moved = stage.nearest(threshold)
        assert np.all((points == moved[:, None]).any(axis=1))
        # half a share away at most, but for where the lattice is coarse
        apart = np.abs(shares_below(posterior, moved) - shares_below(posterior, threshold))
        coarse = shares_below(posterior, moved + 1.0) - shares_below(posterior, moved - 1.0)
        assert np.all(apart <= 0.5 / count + coarse + 1e-9)


def of_shares(d, cells, shares, *, seed=0):
    """Posteriors of some pieces whose masses are so many equal shares, which are no binary fractions."""
    rng, pieces = np.random.default_rng(seed), 9
    inner = np.sort(rng.permuted(np.tile(np.arange(1.0, cells), (d, 1)), axis=1)[:, : pieces - 1], axis=1)
    edges = np.column_stack([np.zeros(d), inner, np.full(d, cells)])
    return MedianPosterior(edges=edges, mass=rng.multinomial(shares, np.full(pieces, 1.0 / pieces), d) / shares)


@pytest.mark.parametrize("count", [1, 7, 10, 30, 60, 2048])
@pytest.mark.parametrize(
    "posterior",
    [*(searched(200, cells, rounds=14) for cells in (2.0, 5.0, 3000.0, 2.0**46)), of_shares(200, 300.0, 30)],
)
def test_thresholds_move_alike_with_and_without_the_compiler(posterior, count, monkeypatch):
    stage, cells = Stage.of(posterior, count), posterior.edges[:, -1:]
    inside = np.minimum(np.maximum(posterior.edges, 1.0), cells)  # where the pieces of a posterior meet, and beside it
    points = stage.points()[:, :: max(1, count // 20)]
    asked = [*inside.T, *np.minimum(inside + 1.0, cells).T, *np.maximum(inside - 1.0, 1.0).T, *points.T]
    compiled = [stage.nearest(threshold) for threshold in asked]
    for way in (lambda loop: None, lambda loop: loop):
        monkeypatch.setattr(search_stage, "compiled", way)
        for threshold, moved in zip(asked, compiled, strict=True):
            assert stage.nearest(threshold).tobytes() == moved.tobytes()


def test_points_are_those_of_where_the_stage_began():
    posterior = searched(5, CELLS, rounds=3)
    stage = Stage.of(posterior, 16)
    before, threshold = stage.points(), posterior.next_threshold()
    for _ in range(4):
        threshold = stage.nearest(posterior.next_threshold())
        posterior = posterior.updated(threshold, np.full(5, 2.0))
    np.testing.assert_array_equal(stage.points(), before)
    np.testing.assert_array_equal(stage.nearest(threshold), threshold)  # a point is its own nearest


@pytest.mark.parametrize(("points", "together"), [(16, 1), (32, 1), (64, 3), (256, 6), (2048, 11)])
@pytest.mark.parametrize("rounds", [1, 4, 11, 12, 32, 74])
def test_stages_are_even_and_have_all_rounds(rounds, points, together):
    found = stages(rounds, points)
    assert sum(found) == rounds
    assert max(found) - min(found) <= 1
    assert max(found) <= together
    assert len(found) == -(-rounds // together)


def test_the_default_search_is_three_stages():
    assert stages(32, points_of(1024)) == [11, 11, 10]


def test_wide_tables_have_fewer_points():
    assert points_of(1) == points_of(2048) == MOST_POINTS
    assert points_of(20_000) == 2**22 // 20_000
    assert points_of(10**6) == FEWEST_POINTS


@pytest.mark.parametrize("d", [1, 1024, 2048, 2049, 4096, 9000, 20_000, 100_000, 2**18])
def test_counts_between_points_are_small_enough_for_sixteen_of_them_in_one_process(d):
    # Spark's driver has 1 GB by default, and brought nothing of sixteen times 33 MB
    assert d * (points_of(d) + 1) * np.dtype(np.int32).itemsize <= 2**24 + 2**20


@pytest.mark.parametrize("count", [16, 64, 256, 2048])
def test_a_search_in_stages_finds_what_a_free_one_finds(count):
    # False alarms: seeds are fixed.  A stage that asked at points of its first round only would lose nearly all cells.
    d, rows, noise_std, rng = 300, 1000, 100.0, np.random.default_rng(4)
    medians = np.floor(rng.random(d) * CELLS)
    evidence = MedianEvidence(rows=rows, noise_std=noise_std)
    posterior = MedianPosterior.uniform(np.full(d, CELLS))
    for together in stages(32, count):
        stage = Stage.of(posterior, count)
        for _ in range(together):
            threshold = stage.nearest(posterior.next_threshold())
            noisy = np.where(medians < threshold, float(rows), 0.0) + noise_std * rng.standard_normal(d)
            posterior = posterior.updated(threshold, evidence(noisy))
    assert np.mean(np.abs(posterior.median() - medians - 0.5) <= 2.0) > 0.97
