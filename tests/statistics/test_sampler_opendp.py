"""Our sampler and OpenDP's draw the same law: each is an oracle for the other.

OpenDP cannot be seeded, so a correct pair fails with probability 1e-6 per assertion and run. Power: sigma 5%
off moves the variance by 10%, 16 standard errors of the difference; it goes unseen with probability < 1e-8.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2_contingency

from plandp.noise.bits import SeededBits
from plandp.noise.discrete_gaussian import draw_discrete_gaussian
from plandp.noise.opendp_sampler import OpenDPSampler

pytest.importorskip("opendp", reason="the extra opendp is not installed")

UNLIKELY = 1e-6
FROM_OPENDP, OURS = 50_000, 1_000_000


def two_sample_chi2(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    edges = np.unique(np.quantile(np.concatenate([one, other]), np.linspace(0, 1, 21)[1:-1]))
    counts = [np.bincount(np.searchsorted(edges, sample), minlength=edges.size + 1) for sample in (one, other)]
    table = np.array(counts)
    return float(chi2_contingency(table[:, table.sum(axis=0) > 0], correction=False).pvalue)


def variance_z(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """z-score of the difference of the log-variances; 2/size is the Gaussian's variance of each."""
    difference = math.log(np.mean(one.astype(float) ** 2) / np.mean(other.astype(float) ** 2))
    return difference / math.sqrt(2 / one.size + 2 / other.size)


@pytest.mark.parametrize("sigma2", [Fraction(1), Fraction(225, 16), Fraction(1 << 20), Fraction(1 << 80)], ids=str)
def test_two_samples_agree_and_would_not_if_sigma_were_off(sigma2: Fraction) -> None:
    theirs = OpenDPSampler().draw(FROM_OPENDP, sigma2).astype(np.int64)
    ours = draw_discrete_gaussian(OURS, sigma2, SeededBits(61))
    assert two_sample_chi2(theirs, ours) > UNLIKELY
    assert abs(variance_z(theirs, ours)) < 4.9
    too_small = draw_discrete_gaussian(OURS, sigma2 * Fraction(95, 100) ** 2, SeededBits(62))
    assert two_sample_chi2(theirs, too_small) < UNLIKELY
    assert variance_z(theirs, too_small) > 4.9
