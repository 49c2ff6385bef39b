"""The rotation is orthonormal, the same bits with and without the compiler, and a row's own affair."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.linalg import hadamard

from plandp.kernels.compiler import compiled
from plandp.kernels.hadamard import rotate_rows
from plandp.kernels.recentred import write_recentred
from plandp.mechanisms import rotated
from plandp.mechanisms.recentred import Recentred
from plandp.mechanisms.rotated import Rotated, Rotation
from plandp.noise.meter import open_door

WIDTHS = (1, 2, 4, 5, 16, 64, 100, 1000)


def rotation_of(d: int) -> Rotation:
    return Rotation.drawn(d, open_door(reserved=Fraction(1), testing_seed=d))


def rows_of(n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(d)
    return rng.normal(size=(n, d)) * np.exp(rng.normal(0, 3, (n, d)))


@pytest.mark.parametrize("d", WIDTHS)
def test_it_is_the_product_of_hadamard_matrices_and_signs(d: int) -> None:
    rotation = rotation_of(d)
    size = rotation.size
    assert size >= d > size // 2
    assert set(np.unique(rotation.signs)) <= {-1.0, 1.0}
    matrix = np.eye(size)
    for signs in rotation.signs:
        matrix = hadamard(size) @ np.diag(signs) @ matrix / np.sqrt(size)
    assert np.allclose(matrix @ matrix.T, np.eye(size), atol=1e-12)
    table = rows_of(20, d)
    assert np.allclose(rotation(table), table @ matrix[:, :d].T, rtol=1e-12, atol=1e-10 * np.abs(table).max())


@pytest.mark.parametrize("d", WIDTHS)
def test_lengths_stay_and_it_can_be_undone(d: int) -> None:
    rotation, table = rotation_of(d), rows_of(50, d)
    before = table.copy()
    turned = rotation(table)
    assert np.array_equal(table, before)
    assert np.allclose(np.linalg.norm(turned, axis=1), np.linalg.norm(table, axis=1), rtol=1e-13)
    assert np.allclose(rotation.back(turned[7], d), table[7], rtol=1e-12, atol=1e-12 * np.abs(table[7]).max())


@pytest.mark.parametrize("d", WIDTHS)
def test_the_same_bits_in_numpy_compiled_and_for_a_row_alone(d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    view = Recentred(
        low=np.full(d, -50.0), high=np.full(d, 50.0), missing=None, center=np.full(d, 0.3), factor=np.full(d, 1.7)
    )
    table = rows_of(23, d)
    table[3], table[4], table[5, 0] = np.nan, np.inf, -np.inf
    turn = Rotated(view=view, rotation=rotation_of(d))
    with np.errstate(all="ignore"):
        whole = turn(table)
        alone = np.vstack([turn(table[row : row + 1]) for row in range(len(table))])
        plain = np.zeros_like(whole)
        plain[:, :d] = view(table)
        recentred = np.zeros_like(whole)
        write_recentred(table, view.low, view.high, view.center, view.center, view.factor, recentred)
        assert recentred.tobytes() == plain.tobytes()
        rotate_rows(plain, turn.rotation.signs, turn.rotation.scale)
        monkeypatch.setattr(rotated, "compiled", lambda _: None)
        in_numpy = turn(table)
    assert np.isfinite(whole).all()
    assert whole.tobytes() == alone.tobytes() == plain.tobytes() == in_numpy.tobytes()


def test_the_loop_is_compiled_where_there_is_a_compiler() -> None:
    pytest.importorskip("numba")
    assert compiled(rotate_rows) is not None
