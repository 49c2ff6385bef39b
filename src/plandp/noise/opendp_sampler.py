"""Noise drawn by OpenDP's discrete Gaussian, for those who prefer its code to ours (extra: opendp)."""

import math
from fractions import Fraction

import numpy as np

from plandp.errors import ArgumentError, MissingExtra
from plandp.noise.discrete_gaussian import fits_int64
from plandp.noise.sampler import IntegerArray


class OpenDPSampler:
    """Draws of N_Z(0, s²) by OpenDP, s the smallest float64 with s² >= sigma2: no less noise than paid for.

    Switches on OpenDP's "contrib" feature, without which OpenDP refuses to make any mechanism.
    """

    name = "opendp"
    insecure = False

    def __init__(self) -> None:
        try:
            import opendp.prelude as dp
        except ImportError:
            raise MissingExtra("opendp", "opendp", "The sampler 'opendp'") from None
        dp.enable_features("contrib")
        self._opendp = dp

    def draw(self, count: int, sigma2: Fraction) -> IntegerArray:
        """Return `count` draws as int64; refuses sigma2 outside [2^-40, 2^96], where int64 could saturate."""
        if not fits_int64(sigma2):
            raise ArgumentError(
                "sampler",
                "'opendp' serves noise variances from 2^-40 to 2^96 only; "
                "use sampler='exact', which has no such limit, or another rho",
            )
        if count == 0:
            return np.empty(0, dtype=np.int64)
        dp = self._opendp
        add_noise = dp.m.make_gaussian(
            dp.vector_domain(dp.atom_domain(T="i64")),
            dp.l2_distance(T="f64"),
            scale=smallest_float_scale(sigma2),
        )
        return np.array(add_noise([0] * count), dtype=np.int64)


def smallest_float_scale(sigma2: Fraction) -> float:
    """Return the smallest float64 whose square is at least sigma2, decided in exact rational arithmetic."""
    scale = math.sqrt(sigma2)
    while Fraction(scale) ** 2 < sigma2:
        scale = math.nextafter(scale, math.inf)
    while Fraction(below := math.nextafter(scale, 0.0)) ** 2 >= sigma2:
        scale = below
    return scale
