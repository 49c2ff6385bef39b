"""What the metered door asks of a source of discrete Gaussian noise, and the default one."""

from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from plandp.noise.bits import Bits, OsBits
from plandp.noise.discrete_gaussian import draw_discrete_gaussian, fits_int64
from plandp.noise.wide_gaussian import draw_wide_gaussian

IntegerArray = NDArray[np.int64] | NDArray[np.object_]


class Sampler(Protocol):
    """A source of independent discrete Gaussian noise."""

    @property
    def name(self) -> str:
        """The name it has on the receipt: "exact" or "opendp"."""
        ...

    @property
    def insecure(self) -> bool:
        """Whether its noise can be predicted, as in tests."""
        ...

    def draw(self, count: int, sigma2: Fraction) -> IntegerArray:
        """Return `count` draws of parameter sigma2 or more; int64 or Python integers, by sigma2 alone."""
        ...


class ExactSampler:
    """Exact draws of N_Z(0, sigma2) for every rational sigma2 > 0: int64 where that is wide enough."""

    name = "exact"

    def __init__(self, bits: Bits) -> None:
        self._bits = bits

    @property
    def insecure(self) -> bool:
        """Whether the bits come from anywhere but the operating system."""
        return not isinstance(self._bits, OsBits)

    def draw(self, count: int, sigma2: Fraction) -> IntegerArray:
        """Return `count` exact draws of N_Z(0, sigma2)."""
        if fits_int64(sigma2):
            return draw_discrete_gaussian(count, sigma2, self._bits)
        return draw_wide_gaussian(count, sigma2, self._bits)
