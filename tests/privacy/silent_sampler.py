"""A sampler without noise: what leaves the door is then the query itself."""

from fractions import Fraction

import numpy as np

from plandp.noise.sampler import IntegerArray


class SilentSampler:
    """Adds no noise, but notes how much it should have been."""

    name = "exact"
    insecure = True

    def __init__(self) -> None:
        self.asked: list[Fraction] = []

    def draw(self, count: int, sigma2: Fraction) -> IntegerArray:
        self.asked.append(sigma2)
        return np.zeros(count, dtype=np.int64)
