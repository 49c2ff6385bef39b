"""Line 4: a rough private centre μ̃ of every column, its median found by noisy counts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.data.rows import Rows
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.lattice_counts import counted_keys, private_counts_below
from plandp.mechanisms.read_again import ReadAgain
from plandp.noise.meter import MeteredNoise
from plandp.terms.design import Design
from plandp.theory.bisection import MedianEvidence, MedianPosterior
from plandp.theory.location_fit import fit_locations
from plandp.theory.search_stage import Stage, points_of, stages

FloatArray = NDArray[np.float64]


HALVED_DEVIATIONS = 3.0  # of the mean square of pure noise: so far above it, the counts are not all one half
FAR = 1 / 128  # of the width: so far from a centre a count is all or nothing, if the spread is too small to be seen


@dataclass(frozen=True, kw_only=True, eq=False)
class Center:
    """Line 4's μ̃, and where every count of the search was half of the rows, as missing values make it; all released."""

    value: FloatArray
    halved: NDArray[np.bool_]

    @classmethod
    def unknown(cls, value: FloatArray) -> "Center":
        """Public stand-ins for centres that nobody looked for."""
        return cls(value=value, halved=np.zeros(len(value), dtype=bool))


def private_center(sample: Rows, design: Design, noise: MeteredNoise) -> Center:
    """A centre per column, within a fraction of its spread of the median.

    Guarantee: design.split.center-zCDP, by `center_rounds` adaptive rounds of d counts.
    """
    lattice = Lattice.of(design.columns)
    keys = counted_keys(sample, lattice, design.columns.missing, stride=design.center_stride)
    share = design.split.center / design.center_rounds
    noise_std = float(np.sqrt(float(design.d / (2 * share))))

    posterior, evidence = (
        MedianPosterior.uniform(lattice.cells),
        MedianEvidence(rows=design.center_rows, noise_std=noise_std),
    )
    thresholds, counts = [], []
    points, asked = points_of(design.d), None
    for rounds in stages(design.center_rounds, points):
        stage = Stage.of(posterior, points)
        del asked  # counts of the last stage are not needed for the next
        asked = keys.within(stage) if isinstance(keys, ReadAgain) else keys
        for _ in range(rounds):
            threshold = stage.nearest(posterior.next_threshold())
            count = private_counts_below(asked, threshold, noise, rho=share, step="center")
            posterior = posterior.updated(threshold, evidence(count))
            thresholds.append(threshold)
            counts.append(count)
    del keys, asked  # half as large as the table, and not needed for the fit

    # in shares of the column's width, so that columns of any unit can learn from each other
    width = lattice.cells
    position = fit_locations(
        np.stack(thresholds, axis=1) / width[:, None],
        np.stack(counts, axis=1),
        rows=design.center_rows,
        noise_std=noise_std,
        start=posterior.median() / width,
        finest=float((2.0 / width).min()),
        widest=1.0,
    )
    return Center(
        value=lattice.point(position * width),
        halved=_all_halves(
            (np.stack(counts) - design.center_rows / 2.0) / noise_std,
            np.stack(thresholds) / width - position,
            whole=design.center_rows / 2.0 / noise_std,
        ),
    )


def _all_halves(deviation: FloatArray, above: FloatArray, *, whole: float) -> NDArray[np.bool_]:
    """Whether counts may all be one half, and likelier are than none below and `whole` above the centre that was found.

    In standard deviations of their noise; those next to the centre are one half in any case.
    """
    # where some values are missing counts lie between the two, and one half may be nearer without explaining them
    explained = (deviation**2).mean(axis=0) < 1.0 + HALVED_DEVIATIONS * np.sqrt(2.0 / len(deviation))
    gain = whole * (deviation * np.sign(above) - whole / 2.0)  # in log likelihood
    return np.asarray(explained & ((gain * (np.abs(above) > FAR)).sum(axis=0) < 0.0))
