"""A random rotation of rows by fast transforms, its coins public.  Not a query: what it shows stays inside.

Rotated values need no sensitivity of their own: counts below a threshold move by one, whatever is counted.  But each
has to be, bit for bit, a function of its own row and of public coins: hence one fixed order of additions.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.kernels.compiler import compiled
from plandp.kernels.hadamard import rotate_rows
from plandp.kernels.recentred import write_recentred
from plandp.mechanisms.recentred import Recentred
from plandp.noise.meter import MeteredNoise
from plandp.theory.iome import padded

FloatArray = NDArray[np.float64]

ROUNDS = 3  # of signs and transform, as in the code that Huang, Liang and Yi published; their paper has one


@dataclass(frozen=True, kw_only=True, eq=False)
class Rotation:
    """ROUNDS times public signs and a Hadamard transform over √D: orthonormal, in D ≥ d dimensions, D a power of 2."""

    signs: FloatArray  # (ROUNDS, D), all 1 or -1

    @classmethod
    def drawn(cls, d: int, noise: MeteredNoise) -> "Rotation":
        """A random rotation of d columns, padded with zeros to a power of two; its coins are public and free."""
        size = padded(d)
        signs = noise.public_signs(ROUNDS * size)
        return cls(signs=signs.astype(np.float64).reshape(ROUNDS, size))

    @property
    def size(self) -> int:
        """The number of rotated columns."""
        return int(self.signs.shape[1])

    @property
    def scale(self) -> float:
        """What makes the product of all transforms orthonormal."""
        return float(self.size ** (-0.5 * len(self.signs)))

    def __call__(self, rows: FloatArray, /) -> FloatArray:
        """The rotated rows, a new array of `size` columns."""
        rotated = np.zeros((len(rows), self.size))
        rotated[:, : rows.shape[1]] = rows
        self.turn(rotated)
        return rotated

    def turn(self, rows: FloatArray) -> None:
        """Rotate rows of `size` columns where they are."""
        (compiled(rotate_rows) or _rotate_rows)(rows, self.signs, self.scale)

    def back(self, vector: FloatArray, d: int) -> FloatArray:
        """The first d coordinates of the vector that is rotated to this one: those beyond are padding."""
        found = vector[None, :] * self.scale
        for signs in self.signs[::-1]:
            found = _transformed(found) * signs
        return found[0, :d]


@dataclass(frozen=True, kw_only=True, eq=False)
class Rotated:
    """Recentred rows, rotated: each value a function of its own row and of public coins."""

    view: Recentred
    rotation: Rotation

    def __call__(self, block: FloatArray, /) -> FloatArray:
        """A new array with a row for every row of the block."""
        view, loop = self.view, compiled(write_recentred)
        if loop is None:
            return self.rotation(view(block))
        rotated = np.zeros((len(block), self.rotation.size))
        stand_in = view.center if view.missing is None else view.missing
        loop(block, view.low, view.high, stand_in, view.center, view.factor, rotated)
        self.rotation.turn(rotated)
        return rotated


def _rotate_rows(rows: FloatArray, signs: FloatArray, scale: float) -> None:
    """What the compiled loop does, level by level in NumPy: the same additions of the same numbers."""
    for each in signs:
        rows[:] = _transformed(rows * each)
    rows *= scale


def _transformed(rows: FloatArray) -> FloatArray:
    """The Hadamard transform of every row, not scaled."""
    n, size = rows.shape
    half = 1
    while half < size:
        pairs = rows.reshape(n, size // (2 * half), 2, half)
        rows = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2).reshape(n, size)
        half *= 2
    return rows
